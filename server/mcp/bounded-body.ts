/**
 * Bounds on response bodies of servers that may send anything: a message takes a limited amount of memory, and reaches
 * the library, which parses it, without values that are nested too deeply.
 */
import type { Transformer } from 'node:stream/web';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { clipJson } from '#server/text/json.ts';

/** Bytes of one message; in a stream of events, characters of each event. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Characters of one counted line; a longer line is counted as several. */
const LINE_CHARS = 1024;

type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();

export interface BodyBounds {
  maxBytes: number;
  /**
   * Called with the number of lines of a stream of events that are not data of a message: comments, other fields, empty
   * lines, and the data of events of other types, which the library ignores. Throws to fail the stream.
   */
  charge(lines: number): void;
}

/** Wraps the response: its body fails when it, or one event of it, is longer than `maxBytes`, or `charge` throws. */
export function boundedBody(response: Response, bounds: BodyBounds): Response {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  const events = /^text\/event-stream\b/i.test(headers.get('content-type') ?? '');
  const bounded = body.pipeThrough(new TransformStream(events ? eventBounds(bounds) : textBounds(bounds)));
  return new Response(bounded, { status, statusText, headers });
}

const tooLong = (maxBytes: number) => new Error(`the server sent more than ${maxBytes} bytes at once`);

/** Buffers the whole text, since JSON cannot be parsed before its end. */
function textBounds({ maxBytes }: BodyBounds): Transformer<Uint8Array, Bytes> {
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

function eventBounds({ maxBytes, charge }: BodyBounds): Transformer<Uint8Array, Bytes> {
  const decoder = new TextDecoder();
  const countLines = otherLines();
  let out = '';
  const parser = createParser({
    onEvent(event) {
      if ((event.event ?? 'message') !== 'message') charge(Math.floor(event.data.length / LINE_CHARS));
      out += eventText(event);
    },
    onRetry: (ms) => void (out += `retry: ${ms}\n\n`),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw tooLong(maxBytes);
    },
    maxBufferSize: maxBytes,
  });
  return {
    // An error thrown here fails the stream.
    transform(chunk, controller) {
      out = '';
      const text = decoder.decode(chunk, { stream: true });
      charge(countLines(text));
      parser.feed(text);
      if (out !== '') controller.enqueue(encoder.encode(out));
    },
  };
}

/** Counts the completed lines of a stream that are not data. A `\r\n` that is split between chunks may count twice. */
function otherLines(): (text: string) => number {
  /** The first characters of the incomplete last line, and the length of all of it. */
  let start = '';
  let chars = 0;
  return (text) => {
    let count = 0;
    const lines = text.split(/\r\n|\r|\n/);
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!/^data(:|$)/.test(start + line.slice(0, 5))) count += 1 + Math.floor((chars + line.length) / LINE_CHARS);
      start = '';
      chars = 0;
    }
    start = (start + rest.slice(0, 5)).slice(0, 5);
    chars += rest.length;
    return count;
  };
}

/** Serializes the event again, its data clipped to the nesting depth that foreign JSON may have. */
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
