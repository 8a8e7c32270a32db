import { createServer } from 'node:http';
import { networkInterfaces } from 'node:os';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { isAllowed, oauthRequests } from '#server/mcp/auth/oauth-fetch.ts';
import { createHttpClient, type Fetch } from '#server/net/http-client.ts';
import { systemNetwork } from '#server/net/network.ts';

const places: [string, string, boolean][] = [
  ['https://auth.example/x', 'https://mcp.example/mcp', true],
  ['https://auth.example/x', 'http://127.0.0.1:1/mcp', true],
  ['http://auth.example/x', 'https://mcp.example/mcp', false],
  ['http://mcp.example/x', 'https://mcp.example/mcp', false],
  ['http://mcp.example:2/x', 'http://mcp.example:1/mcp', true],
  ['http://other.example/x', 'http://mcp.example/mcp', false],
  ['http://169.254.169.254/x', 'http://mcp.example/mcp', false],
  ['http://127.0.0.1:2/x', 'http://localhost:1/mcp', true],
  ['http://[::1]:2/x', 'http://127.0.0.1:1/mcp', true],
  // A remote server may not reach services of this machine, in any spelling of its address.
  ['http://127.0.0.1:2/x', 'http://mcp.example/mcp', false],
  ['https://localhost/x', 'https://mcp.example/mcp', false],
  ['https://127.1/x', 'https://mcp.example/mcp', false],
  ['https://0x7f000001/x', 'https://mcp.example/mcp', false],
  ['https://localhost./x', 'https://mcp.example/mcp', false],
  ['https://app.localhost/x', 'https://mcp.example/mcp', false],
  ['https://0.0.0.0/x', 'https://mcp.example/mcp', false],
  ['https://[::ffff:127.0.0.1]/x', 'https://mcp.example/mcp', false],
  ['file:///etc/passwd', 'http://127.0.0.1/mcp', false],
  ['ftp://127.0.0.1/x', 'ftp://127.0.0.1/mcp', false],
  ['javascript:alert(1)', 'https://mcp.example/mcp', false],
];
it.each(places)('a request to %s for %s: %s', (url, server, allowed) => {
  expect(isAllowed(new URL(url), new URL(server))).toBe(allowed);
});

const server = new URL('http://127.0.0.1:1/mcp');
const never = new AbortController().signal;
const deps = (fetch: Fetch) => ({ fetch, network: systemNetwork });
const requestBy = (...args: Parameters<typeof oauthRequests>) => oauthRequests(...args).fetch;

it('returns a response of moderate size, with its status and headers', async () => {
  const ask = requestBy(
    deps(async () => new Response('x'.repeat(1024), { status: 400, headers: { 'x-own': 'y' } })),
    server,
    never,
  );
  const answer = await ask(server);
  expect([answer.status, answer.headers.get('x-own'), (await answer.text()).length]).toEqual([400, 'y', 1024]);
});

it('stops reading an endless response', async () => {
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536));
    },
  });
  const ask = requestBy(
    deps(async () => new Response(endless)),
    server,
    never,
  );
  await expect(ask(server)).rejects.toThrow('the answer is larger than 1048576 bytes');
  expect(sent).toBeLessThan(2_000_000);
});

it('refuses other hosts, and aborts with its sign-in', async () => {
  let asked = 0;
  const ended = new AbortController();
  const ask = requestBy(
    deps((_url, init) => {
      asked += 1;
      return new Promise((_resolve, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      });
    }),
    server,
    ended.signal,
  );
  await expect(ask('http://elsewhere.example/')).rejects.toThrow('a sign-in does not go to http://elsewhere.example');
  expect(asked).toBe(0);
  const waiting = ask(server);
  ended.abort(new Error('it is over'));
  await expect(waiting).rejects.toThrow('it is over');
});

/** A web server on all addresses; returns its port and the paths that were requested. */
async function listenEverywhere() {
  const paths: string[] = [];
  const host = createServer((request, response) => {
    paths.push(request.url ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => host.listen(0, resolve));
  onTestFinished(() => void host.close());
  return { paths, ...z.object({ port: z.number() }).parse(host.address()) };
}

const own = Object.values(networkInterfaces())
  .flatMap((list) => list ?? [])
  .map(({ address }) => address);
it.each([...new Set(['127.0.0.1', '127.8.8.8', '::1', '0.0.0.0', '::ffff:127.0.0.1', ...own])])(
  'refuses a name that resolves to this machine by %s',
  async (address) => {
    const { port, paths } = await listenEverywhere();
    const network = { ...systemNetwork, resolve: async () => ['192.0.2.1', address] };
    const { fetch, close } = createHttpClient();
    onTestFinished(close);
    const signIn = oauthRequests({ fetch, network }, new URL(`http://mcp.example:${port}/mcp`), never);
    for (const ask of [signIn.fetch, signIn.fetchHead]) {
      await expect(ask(`http://mcp.example:${port}/register`)).rejects.toThrow(
        'the name mcp.example leads to this machine, where a sign-in does not go',
      );
    }
    expect(paths).toEqual([]);
  },
);

it.each([
  ['169.254.169.254', 'a link-local address'],
  ['fe80::1', 'a link-local address'],
  ['168.63.129.16', 'a metadata service'],
])('refuses a name that resolves to %s', async (address, what) => {
  const network = { ...systemNetwork, resolve: async () => [address] };
  const fetch = async () => expect.unreachable();
  const ask = oauthRequests({ fetch, network }, new URL('http://mcp.example/mcp'), never).fetch;
  await expect(ask('http://mcp.example/register')).rejects.toThrow(
    `the name mcp.example leads to ${what}, where a sign-in does not go`,
  );
});

it('connects to the first resolved address of the name in the whole sign-in', async () => {
  const { port, paths } = await listenEverywhere();
  const answers = [['127.0.0.1'], ['192.0.2.1']];
  // Loopback is the only address that a host of every machine has, so here it belongs to a private network.
  const network = { resolve: async () => answers.shift() ?? [], localScope: async () => undefined };
  const { fetch, close } = createHttpClient();
  onTestFinished(close);
  const signIn = oauthRequests({ fetch, network }, new URL('http://mcp.example:1/mcp'), never);
  expect((await signIn.fetchHead(`http://mcp.example:${port}/mcp`)).status).toBe(200);
  for (const path of ['/register', '/token']) {
    expect((await signIn.fetch(`http://mcp.example:${port}${path}`)).status).toBe(200);
  }
  expect(paths).toEqual(['/mcp', '/register', '/token']);
  expect(answers).toHaveLength(1);
});

it('a request for status and headers does not wait for an endless body', async () => {
  let cancelled = false;
  const endless = new ReadableStream({ cancel: () => void (cancelled = true) });
  const head = async () => new Response(endless, { status: 401, headers: { 'www-authenticate': 'Bearer' } });
  const answer = await oauthRequests(deps(head), server, never).fetchHead(server);
  expect([answer.status, answer.headers.get('www-authenticate'), answer.body]).toEqual([401, 'Bearer', null]);
  expect(cancelled).toBe(true);
});
