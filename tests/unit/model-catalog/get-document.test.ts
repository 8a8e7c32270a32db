/** Reads of documents from servers that are slow, hostile or redirect. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { getDocument, requestReason, withinTime } from '#server/model-catalog/get-document.ts';
import { createHttpClient } from '#server/net/http-client.ts';
import type { Network } from '#server/net/network.ts';
import { listenDuringTest } from '#support/listen-during-test.ts';
import { manualClock } from '#support/manual-clock.ts';
import { until } from '#support/patience.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server, and the authorization of each request that it received. */
async function serve(handler: Handler) {
  const keys: (string | undefined)[] = [];
  const port = await listenDuringTest(
    createServer((request, response) => {
      keys.push(request.headers.authorization);
      handler(request, response);
    }),
  );
  return { url: `http://127.0.0.1:${port}/`, keys };
}

const network: Pick<Network, 'resolve' | 'localScope'> = { resolve: async () => [], localScope: async () => undefined };
const redirect =
  (to: () => string, status = 302): Handler =>
  (_request, response) =>
    void response.writeHead(status, { location: to() }).end();

async function get(
  url: string,
  more: { key?: string; leavesOrigin?: boolean; signal?: AbortSignal } = {},
  other = network,
) {
  const client = createHttpClient();
  onTestFinished(client.close);
  const request = {
    headers: { accept: 'x' },
    key: 'k',
    leavesOrigin: true,
    signal: AbortSignal.timeout(60_000),
    ...more,
  };
  const { status, bytes } = await getDocument(url, request, { fetch: client.fetch, network: other });
  return { status, body: Buffer.from(bytes).toString() };
}

it('returns the body of any status, and sends the key as bearer', async () => {
  const { url, keys } = await serve((request, response) =>
    response.writeHead(request.url === '/' ? 200 : 418).end('text'),
  );
  expect(await get(url)).toEqual({ status: 200, body: 'text' });
  expect(await get(`${url}x`, { key: '' })).toEqual({ status: 418, body: 'text' });
  expect(keys).toEqual(['Bearer k', undefined]);
});

it.each([301, 302, 303, 307, 308])('follows %i to another origin without the key', async (status) => {
  const target = await serve((_request, response) => response.end('there'));
  const { url, keys } = await serve(redirect(() => target.url, status));
  expect(await get(url)).toEqual({ status: 200, body: 'there' });
  expect(keys).toEqual(['Bearer k']);
  expect(target.keys).toEqual([undefined]);
});

it('within the origin, and back at it, the key is sent', async () => {
  const away = await serve(redirect(() => `${home.url}end`));
  const home = await serve((request, response) => {
    const next = { '/': '/second', '/second': away.url }[request.url ?? ''];
    if (next === undefined) response.end('end');
    else response.writeHead(302, { location: next }).end();
  });
  expect(await get(home.url)).toEqual({ status: 200, body: 'end' });
  expect(home.keys).toEqual(['Bearer k', 'Bearer k', 'Bearer k']);
  expect(away.keys).toEqual([undefined]);
});

it('refuses to leave the origin where that is not allowed', async () => {
  const target = await serve((_request, response) => response.end());
  const { url } = await serve(redirect(() => target.url));
  await expect(get(url, { leavesOrigin: false })).rejects.toThrow(`a redirect to ${new URL(target.url).origin}`);
  expect(target.keys).toEqual([]);
});

it('refuses an endless redirect, invalid addresses and other protocols', async () => {
  const endless = await serve(redirect(() => '/'));
  await expect(get(endless.url)).rejects.toThrow('more than 5 redirects');
  expect(endless.keys).toHaveLength(6);
  for (const [location, message] of [
    ['http://', 'a redirect to an invalid address'],
    ['file:///etc/passwd', 'a redirect to file:'],
  ] as const) {
    const { url } = await serve(redirect(() => location));
    await expect(get(url)).rejects.toThrow(message);
  }
});

it('a server elsewhere cannot redirect to a service of this machine', async () => {
  const { url } = await serve(redirect(() => 'http://127.0.0.2:1/'));
  const scopes = {
    ...network,
    localScope: async (address: string) => (address === '127.0.0.2' ? 'this machine' : undefined),
  };
  await expect(get(url, {}, scopes)).rejects.toThrow('a redirect to this machine');
});

describe('a name whose owner changes its address between the check and the request', () => {
  const ELSEWHERE = '127.0.0.2';
  const HERE = '127.0.0.1';

  /** Servers at one port of both addresses; names resolve to the given addresses, in order. */
  async function rebinding(addresses: string[], redirects: (port: number) => string) {
    const reached: string[] = [];
    const serverAt = (address: string) =>
      createServer((request, response) => {
        reached.push(address);
        if (request.url === '/end') response.end('end');
        else response.writeHead(302, { location: redirects(port) }).end();
      });
    const port = await listenDuringTest(serverAt(HERE), HERE);
    await listenDuringTest(serverAt(ELSEWHERE), ELSEWHERE, port);
    const left = [...addresses];
    const names = {
      resolve: async () => [left.shift() ?? HERE],
      localScope: async (address: string) => (address === HERE ? 'this machine' : undefined),
    };
    return { port, reached, names };
  }

  it('is requested at the address that was checked, also as target of a redirect', async () => {
    const { port, reached, names } = await rebinding([ELSEWHERE, ELSEWHERE], (at) => `http://other.example:${at}/end`);
    expect(await get(`http://registry.example:${port}/`, {}, names)).toEqual({ status: 200, body: 'end' });
    expect(reached).toEqual([ELSEWHERE, ELSEWHERE]);
  });

  it('cannot redirect to this machine by leading to it later', async () => {
    const { port, reached, names } = await rebinding([ELSEWHERE, HERE], (at) => `http://${HERE}:${at}/end`);
    await expect(get(`http://registry.example:${port}/`, {}, names)).rejects.toThrow('a redirect to this machine');
    expect(reached).toEqual([ELSEWHERE]);
  });

  it('cannot redirect to a name that leads to this machine, or has no address yet', async () => {
    const { port, reached, names } = await rebinding([ELSEWHERE, HERE], (at) => `http://other.example:${at}/end`);
    const url = `http://registry.example:${port}/`;
    await expect(get(url, {}, names)).rejects.toThrow('a redirect to this machine');
    const unknown = { ...names, resolve: async (name: string) => (name === 'registry.example' ? [ELSEWHERE] : []) };
    await expect(get(url, {}, unknown)).rejects.toThrow('which was not found');
    expect(reached).toEqual([ELSEWHERE, ELSEWHERE]);
  });

  it('that leads to this machine from the start may redirect on it', async () => {
    const { port, reached, names } = await rebinding([HERE, HERE], (at) => `http://other.example:${at}/end`);
    expect(await get(`http://registry.example:${port}/`, {}, names)).toEqual({ status: 200, body: 'end' });
    expect(reached).toEqual([HERE, HERE]);
  });

  it('is foreign if it is encrypted, since its address is not certain', async () => {
    const names = { resolve: async () => [HERE], localScope: async () => 'this machine' };
    const redirected = (url: string) => {
      const fetch = async (to: string | URL) =>
        String(to) === url
          ? new Response(null, { status: 302, headers: { location: 'https://127.0.0.1:1/' } })
          : new Response('end');
      const request = { headers: {}, key: '', leavesOrigin: true, signal: AbortSignal.timeout(60_000) };
      return getDocument(url, request, { fetch, network: names });
    };
    await expect(redirected('https://registry.example/')).rejects.toThrow('a redirect to this machine');
    expect(await redirected('https://localhost/')).toMatchObject({ status: 200 });
  });
});

it('refuses a body above 16 MiB, compressed or not, and a redirect from https to http', async () => {
  const bomb = gzipSync(Buffer.alloc(17 * 1024 * 1024));
  const large = await serve((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' });
    response.end(bomb);
  });
  await expect(get(large.url)).rejects.toThrow('the answer is larger than 16777216 bytes');
  const fetch = async () => new Response(null, { status: 302, headers: { location: 'http://example.org/' } });
  const request = { headers: {}, key: '', leavesOrigin: true, signal: AbortSignal.timeout(60_000) };
  await expect(getDocument('https://example.com/', request, { fetch, network })).rejects.toThrow(
    'a redirect from https to http',
  );
});

it('the body of a failure above 64 KiB is ignored', async () => {
  const { url } = await serve((_request, response) => response.writeHead(500).end('x'.repeat(100_000)));
  expect(await get(url)).toEqual({ status: 500, body: '' });
});

it('the time limit includes the body', async () => {
  const clock = manualClock();
  const { url, keys } = await serve((_request, response) => void response.writeHead(200).write('{'));
  const work = withinTime(10_000, clock, new AbortController().signal, (signal) => get(url, { signal }));
  const outcome = work.then(
    () => 'read',
    (error: unknown) => requestReason(error),
  );
  await until(() => keys.length > 0);
  clock.advance(10_000);
  expect(await outcome).toBe('timed out after 10 s');
  expect(clock.waits()).toEqual([]);
});

it.each<[string, unknown, string]>([
  [
    'the innermost message',
    new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') }),
    'connect ECONNREFUSED',
  ],
  ['the messages of all addresses', new AggregateError([new Error('a'), new Error('b')]), 'a; b'],
  ['no message', new Error(''), 'fetch failed'],
])('a reason is %s', (_name, error, reason) => {
  expect(requestReason(error)).toBe(reason);
});
