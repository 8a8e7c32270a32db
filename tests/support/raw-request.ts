/** Requests that `fetch` cannot send: any Host, raw paths, odd headers, bodies of any kind. */
import { request } from 'node:http';
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';

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
  /** False omits the Host header. */
  setHost?: boolean;
}

/** Sends the path byte for byte; resolves when the answer is complete. */
export function rawRequest(
  url: string,
  { method = 'GET', path, headers = {}, body, setHost = true }: RawRequest,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    // A separate keep-alive socket, so that `connection: close` in an answer is the server's decision.
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

/** Sends text over a new socket; resolves to the answer when the socket closes or `isComplete` returns true. */
export function rawExchange(url: string, text: string, isComplete: (answer: string) => boolean): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      if (isComplete(answer)) socket.destroy();
    });
    // A reset ends the exchange like a close: the answer is what arrived before it.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answer));
  });
}

/** Sends a WebSocket upgrade; resolves to the refusal, or to the response head that accepts it. */
export function rawUpgrade(url: string, target: string, headers: Record<string, string> = {}): Promise<string> {
  const all = {
    Host: new URL(url).host,
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const accepted = (answer: string) => answer.startsWith('HTTP/1.1 101') && answer.includes('\r\n\r\n');
  return rawExchange(url, `GET ${target} HTTP/1.1\r\n${lines.join('')}\r\n`, accepted);
}
