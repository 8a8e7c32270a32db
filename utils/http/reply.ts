/** Writes answers: envelopes, bytes, streams. Everything that leaves the server over HTTP passes here. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorEntry } from '#server/errors/catalogue.ts';
import type { ServiceError } from '#server/errors/service-error.ts';
import { jsonBody } from './json-pieces.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/** An answer as the writer takes it. `headers` are lower case. */
export interface Reply {
  status: number;
  headers: Record<string, string | number>;
  /** Absent: no content (204, 304). */
  body?: string | Uint8Array | Readable;
  /** Envelope code, for the access log; absent for raw answers. */
  code?: number;
}

/** Keys in the order that clients and log readers rely on; `large` data is written piece by piece. */
export function success(data: unknown, requestId: string, status: number, large = false): Reply {
  const envelope = { code: 0, msg: 'success', data: data ?? null, request_id: requestId };
  const body = large ? jsonBody(envelope) : JSON.stringify(envelope);
  return { status, headers: { 'content-type': JSON_TYPE }, body, code: 0 };
}

/** The envelope of a failure, with the status of the catalogue unless another is given. */
export function failure(
  { name, code, message, data, details }: ServiceError,
  requestId: string,
  status = errorEntry(name).status ?? 200,
): Reply {
  const body = JSON.stringify({ code, msg: message || 'internal error', data, request_id: requestId, details });
  return { status, headers: { 'content-type': JSON_TYPE }, body, code };
}

/**
 * Bytes sent as they are read. The writer holds `stream` to `length`: what exceeds it is not sent, a stream that ends
 * before it ends the connection with it. It is destroyed when the client goes.
 */
export function streamed(stream: Readable, length: number, headers: Reply['headers']): Reply {
  return { status: 200, headers: { ...headers, 'content-length': length }, body: stream };
}

/** How long a client may go on sending a refused body before the connection is cut. */
const LINGER_MS = 2000;

/** Reads and drops what is still coming, so that closing does not reset the connection before the answer is read. */
function drain(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, LINGER_MS);
    request.once('end', done).once('close', done).once('error', done);
    request.resume();
  });
}

/** `pipeline` says so when the response is closed before its end. */
const clientGone = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';

/** Passes the first `length` bytes on and drops what follows them; fails when there are fewer. */
function exactly(length: number): Transform {
  let missing = length;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const taken = chunk.length > missing ? chunk.subarray(0, missing) : chunk;
      missing -= taken.length;
      done(null, taken);
    },
    flush(done) {
      done(missing > 0 ? new Error(`the body of an answer ended ${missing} bytes short of its ${length}`) : null);
    },
  });
}

/** Sends the answer; resolves when the socket has it or is gone. `headers` of the guard are set already. */
export async function writeReply(request: IncomingMessage, response: ServerResponse, reply: Reply): Promise<void> {
  const { body } = reply;
  response.statusCode = reply.status;
  for (const name in reply.headers) {
    const value = reply.headers[name];
    // The guard's is kept: its CORS headers vary with the origin.
    const before = name === 'vary' ? response.getHeader(name) : undefined;
    if (value !== undefined) response.setHeader(name, before === undefined ? value : `${before.toString()}, ${value}`);
  }
  if (body === undefined) {
    response.end();
    return;
  }
  if (typeof body === 'string' || body instanceof Uint8Array) {
    response.setHeader('content-length', Buffer.byteLength(body));
    if (reply.headers.connection === 'close' && !request.complete && request.method !== 'HEAD') {
      response.write(body);
      await drain(request);
      response.end();
    } else {
      response.end(body);
    }
    return;
  }
  if (request.method === 'HEAD') {
    body.destroy();
    response.end();
    return;
  }
  const length = reply.headers['content-length'];
  try {
    await (typeof length === 'number' ? pipeline(body, exactly(length), response) : pipeline(body, response));
  } catch (error) {
    // The status is sent, so only the broken length or chunking can indicate the failure. On a keep-alive connection
    // the client would read the next reply as the rest of this one.
    response.destroy();
    if (!clientGone(error)) throw error;
  }
}
