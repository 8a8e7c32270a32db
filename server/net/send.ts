/**
 * Sends one request with undici's `request`: `undici.fetch` creates half a dozen more streams and objects per request,
 * a measurable cost in every turn.
 */
import { pipeline, type Readable } from 'node:stream';
import type { Transform } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';

export interface SentRequest {
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | null;
  signal: AbortSignal | undefined;
}

/** Read a single time, or cancelled together with its connection. */
export interface AnswerBody extends AsyncIterable<Uint8Array> {
  cancel(): void;
}

export interface Answer {
  status: number;
  headers: Headers;
  body: AnswerBody;
}

const PIECE_BYTES = 16 * 1024;

/** Statuses without a body; `Response` throws if one is passed. */
const BODILESS = new Set([204, 205, 304]);

/** Decoders for proxies that send encoded bodies although `identity` is requested. */
const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** Follows no redirects. Throws undici's errors, or the signal's reason after an abort. */
export async function send(
  { request }: Pick<typeof import('undici'), 'request'>,
  dispatcher: Dispatcher,
  url: string,
  { method, headers, body, signal }: SentRequest,
): Promise<Answer> {
  const answer = await request(url, {
    dispatcher,
    method: method.toUpperCase(),
    headers: { 'accept-encoding': 'identity', ...headers },
    body,
    signal,
  });
  const received = receivedHeaders(answer.headers);
  return { status: answer.statusCode, headers: received, body: bodyOf(decoded(answer.body, received)) };
}

/** Converts to the `Response` that SDKs read. */
export function toResponse({ status, headers, body }: Answer): Response {
  if (!BODILESS.has(status)) return new Response(webStream(body), { status, headers });
  body.cancel();
  return new Response(null, { status, headers });
}

function receivedHeaders(from: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(from)) {
    for (const one of Array.isArray(value) ? value : [value ?? '']) headers.append(name, one);
  }
  return headers;
}

function decoded(body: Readable, headers: Headers): Readable {
  const decoder = DECODERS[headers.get('content-encoding') ?? '']?.();
  // The reader receives errors of both streams from the decoder.
  return decoder ? pipeline(body, decoder, () => undefined) : body;
}

/** Splits large chunks with cooperative yielding: one may contain hundreds of events, parsed without a pause. */
async function* pieces(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      if (at > 0) await nextTurn();
      yield chunk.subarray(at, at + PIECE_BYTES);
    }
  }
}

function bodyOf(body: Readable): AnswerBody {
  // The reader receives errors from the iterator; those of an abandoned body must not crash the process.
  body.on('error', () => undefined);
  return { [Symbol.asyncIterator]: () => pieces(body), cancel: () => void body.destroy() };
}

/** Pull-based stream: reads a chunk when the consumer requests it. */
function webStream(body: AnswerBody): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: () => body.cancel(),
    },
    { highWaterMark: 0 },
  );
}
