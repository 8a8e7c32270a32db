/** Requests as `fetch` cannot send them: own Host, raw paths, odd headers, bodies of any kind. */
import { request } from 'node:http';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

export interface RawAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

export interface RawRequest {
  method?: string;
  path: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Uint8Array;
  /** False leaves the Host header out. */
  setHost?: boolean;
}

/** Sends the path byte for byte; resolves when the answer is whole. */
export function rawRequest(
  url: string,
  { method = 'GET', path, headers = {}, body, setHost = true }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    // A socket of its own, but kept open, so that `connection: close` in an answer is the server's wish.
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const options = { hostname, port, method, path, setHost, agent: false as const };
    const sent = request({ ...options, headers: { connection: 'keep-alive', ...length, ...headers } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        sent.destroy();
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks).toString() });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
