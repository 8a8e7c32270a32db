/**
 * Connections of the remote-control tunnel without a tunnel: the app accepts one end of a pair of streams, the test has
 * the other one, which is the relay's.
 */
import { request, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { duplexPair, type Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import * as z from 'zod';
import type { App } from '#server/app/app.ts';
import type { TunnelConnection } from '#server/net/connection-facts.ts';
import { connect, type ConnectOptions, type WsClient } from './ws-client.ts';

export const PUBLIC_HOST = 'relay.test:8443';
export const PUBLIC_ORIGIN = `https://${PUBLIC_HOST}`;

export type TunnelFacts = Partial<TunnelConnection>;

/** Opens a connection; returns the relay's end. */
export function openConnection({ acceptConnection }: Pick<App, 'acceptConnection'>, facts: TunnelFacts = {}): Duplex {
  const [relay, local] = duplexPair();
  // A connection that the server cuts fails its pending writes.
  relay.on('error', () => undefined);
  acceptConnection(local, {
    kind: 'tunnel',
    remoteAddress: '203.0.113.7',
    scheme: 'https',
    host: PUBLIC_HOST,
    prefix: '/devices/d1',
    flushed: async () => undefined,
    ...facts,
  });
  // A pair reports the end of one side only as an end to the other.
  local.once('close', () => relay.destroy());
  relay.once('close', () => local.destroy());
  return relay;
}

/** Sends raw bytes; resolves to all bytes of the answer when the server closes the connection. */
export async function exchange(
  app: Pick<App, 'acceptConnection'>,
  bytes: string,
  facts?: TunnelFacts,
): Promise<string> {
  const relay = openConnection(app, facts);
  relay.write(bytes, 'latin1');
  return answerOf(relay);
}

/** Collects bytes until the connection ends in any way. */
export function answerOf(relay: Duplex): Promise<string> {
  let answer = '';
  relay.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  return new Promise((resolve) => {
    relay.once('close', () => resolve(answer));
    relay.once('end', () => relay.end());
  });
}

export interface TunnelAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
  /** The envelope's code; undefined for other answers. */
  code: number | undefined;
}

export interface TunnelRequest {
  method?: string;
  path: string;
  /** Null omits the Authorization header. */
  token: string | null;
  headers?: OutgoingHttpHeaders;
  body?: string | Uint8Array;
  facts?: TunnelFacts;
}

const coded = z.object({ code: z.number() });

function codeOf(headers: IncomingHttpHeaders, bytes: Buffer): number | undefined {
  if (!headers['content-type']?.startsWith('application/json') || bytes.length === 0) return undefined;
  return coded.safeParse(JSON.parse(bytes.toString())).data?.code;
}

/** Sends a request on a connection of its own, with the headers that a relay sends. */
export function tunnelRequest(
  app: Pick<App, 'acceptConnection'>,
  { method = 'GET', path, token, headers = {}, body, facts = {} }: TunnelRequest,
): Promise<TunnelAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({
      createConnection: () => openConnection(app, facts),
      method,
      path,
      headers: {
        host: facts.host ?? PUBLIC_HOST,
        connection: 'close',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
        ...headers,
      },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      buffer(response).then((bytes) => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          bytes,
          code: codeOf(response.headers, bytes),
        });
      }, reject);
    });
    sent.end(body);
  });
}

/** Opens a WebSocket through a connection. */
export const tunnelSocket = (
  server: { app: App; url: string; token: string },
  { facts, headers = {}, ...options }: ConnectOptions & { facts?: TunnelFacts } = {},
): Promise<WsClient> =>
  connect(server, {
    ...options,
    headers: { host: facts?.host ?? PUBLIC_HOST, ...headers },
    createConnection: () => openConnection(server.app, facts),
  });
