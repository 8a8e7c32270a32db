/** Answers of servers that nobody knows: whatever they send, only so much of it is ever held in memory. */

/** Of one message; of a stream of events each may be as long. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** The same answer, whose body fails when it, or one event of it, is longer. */
export function boundedBody(response: Response, maxBytes: number): Response {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  const events = headers.get('content-type')?.startsWith('text/event-stream') === true;
  const count = events ? countEvents() : countAll();
  const bounded = body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (count(chunk) > maxBytes) controller.error(new Error(`the server sent more than ${maxBytes} bytes at once`));
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(bounded, { status, statusText, headers });
}

function countAll(): (chunk: Uint8Array) => number {
  let bytes = 0;
  return (chunk) => (bytes += chunk.length);
}

/** Bytes since the last empty line. */
function countEvents(): (chunk: Uint8Array) => number {
  let bytes = 0;
  /** Of the line that is not over yet. */
  let line = 0;
  return (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
      const length = line + at - from - (chunk[at - 1] === CARRIAGE_RETURN ? 1 : 0);
      bytes = length <= 0 ? 0 : bytes + length;
      line = 0;
      from = at + 1;
    }
    line += chunk.length - from;
    return bytes + line;
  };
}
