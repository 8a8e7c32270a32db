/**
 * Answers of servers that may send anything: one message takes a bounded amount of memory, and reaches the library, which
 * parses it, without values that are nested too deeply.
 */
import type { Transformer } from 'node:stream/web';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { clipJson } from '#server/json.ts';

/** Bytes of one message; in a stream of events each may have as many characters. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

/** The same answer, whose body fails when it, or one event of it, is longer than `maxBytes`. */
export function boundedBody(response: Response, maxBytes: number): Response {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  const events = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  const bounded = body.pipeThrough(new TransformStream(events ? eventBounds(maxBytes) : textBounds(maxBytes)));
  return new Response(bounded, { status, statusText, headers });
}

const tooLong = (maxBytes: number) => new Error(`the server sent more than ${maxBytes} bytes at once`);

/** Holds the text until its end: nothing can be parsed before. */
function textBounds(maxBytes: number): Transformer<Uint8Array, Bytes> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  return {
    transform(chunk, controller) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxBytes) controller.error(tooLong(maxBytes));
    },
    flush(controller) {
      controller.enqueue(encoder.encode(clipJson(Buffer.concat(chunks).toString('utf8'))));
    },
  };
}

function eventBounds(maxBytes: number): Transformer<Uint8Array, Bytes> {
  const decoder = new TextDecoder();
  let out = '';
  const parser = createParser({
    onEvent: (event) => void (out += eventText(event)),
    onRetry: (ms) => void (out += `retry: ${ms}\n\n`),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw tooLong(maxBytes);
    },
    maxBufferSize: maxBytes,
  });
  return {
    // Throwing here fails the stream.
    transform(chunk, controller) {
      out = '';
      parser.feed(decoder.decode(chunk, { stream: true }));
      if (out !== '') controller.enqueue(encoder.encode(out));
    },
  };
}

/** The event as the stream had it, its data within the levels that JSON from outside may have. */
function eventText({ id, event, data }: EventSourceMessage): string {
  const fields = [
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...clipJson(data)
      .split('\n')
      .map((line) => `data: ${line}`),
  ];
  return `${fields.join('\n')}\n\n`;
}
