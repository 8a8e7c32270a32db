/**
 * A host for tests of fetches: a real server on 127.0.0.1, and a network that resolves names to it and treats this one
 * address as public. A proxy of the user's environment is ignored meanwhile.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isPublicAddress, localScope } from '#server/net/public-address.ts';
import type { Network } from '#server/net/network.ts';

export interface HostRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export type HostAnswer = (request: HostRequest, response: ServerResponse, raw: IncomingMessage) => void;

export interface WebHost {
  port: number;
  /** All requests so far; tests may empty it. */
  requests: HostRequest[];
  /** Sets the answer of a path; without one the answer is 404. */
  on(path: string, answer: HostAnswer): void;
  close(): Promise<void>;
}

export async function startWebHost(): Promise<WebHost> {
  const answers = new Map<string, HostAnswer>();
  const requests: HostRequest[] = [];
  const server = createServer(async (raw, response) => {
    let body = '';
    for await (const chunk of raw) body += String(chunk);
    const { method = '', url = '', headers } = raw;
    const request = { method, url, headers, body };
    requests.push(request);
    const answer = answers.get(new URL(url, 'http://host').pathname);
    if (answer) answer(request, response, raw);
    else response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing here');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { no_proxy: before } = process.env;
  process.env.no_proxy = '.test';
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    on: (path, answer) => void answers.set(path, answer),
    async close() {
      if (before === undefined) delete process.env.no_proxy;
      else process.env.no_proxy = before;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A complete answer with one content type. */
export const sends =
  (body: string | Uint8Array, headers: Record<string, string> = { 'content-type': 'text/html; charset=utf-8' }) =>
  (_request: HostRequest, response: ServerResponse) =>
    void response.writeHead(200, headers).end(body);

/** Names in `.test` resolve to 127.0.0.1, which is treated as public; all other names resolve as usual. */
export const testNetwork: Network = {
  resolve: async (name) => {
    if (!name.endsWith('.test')) throw new Error(`getaddrinfo ENOTFOUND ${name}`);
    return ['127.0.0.1'];
  },
  isPublic: async (address) => address === '127.0.0.1' || isPublicAddress(address),
  localScope: async (address) => localScope(address),
};
