/** How requests are sent: proxies, the environment, headers without a key. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { noLogins } from '#support/no-logins.ts';
import { createTransport } from '#server/net/fetch.ts';
import { createModelClient } from '#server/models/stream.ts';
import { modelRequest, resolvedModel } from '#support/model-requests.ts';
import { startModelServer, type ModelServer } from '#support/model-server.ts';

let server: ModelServer;
let proxy: Server;
const proxied: string[] = [];
beforeEach(async () => {
  server = await startModelServer();
  proxied.length = 0;
  proxy = createServer((request, response) => {
    proxied.push(request.url ?? '');
    response.end('from the proxy');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY', 'all_proxy']) {
    vi.stubEnv(name, undefined);
  }
  vi.stubEnv('ALL_PROXY', url);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
  await server.close();
});

describe('redirects', () => {
  interface Seen {
    method: string | undefined;
    url: string | undefined;
    key: string | undefined;
    body: string;
  }

  /** A server that sends the given redirects in order, then 200. */
  async function redirecting(answers: { status: number; location?: string }[]) {
    const seen: Seen[] = [];
    const served = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += String(chunk)));
      request.on('end', () => {
        const key = request.headers['x-goog-api-key']?.toString();
        seen.push({ method: request.method, url: request.url, key, body });
        const { status, location } = answers.shift() ?? { status: 200 };
        response.writeHead(status, location === undefined ? {} : { location }).end('end');
      });
    });
    await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void served.close());
    return { seen, url: `http://127.0.0.1:${(served.address() as AddressInfo).port}` };
  }

  async function send(url: string) {
    const transport = createTransport();
    onTestFinished(() => transport.close());
    const exchange = transport.exchange({}, { name: 'x-goog-api-key', value: 'secret' });
    const response = await exchange.fetch(`${url}/v1`, { method: 'POST', body: '{"a":1}' });
    return { status: response.status, text: await response.text(), result: exchange.result };
  }

  it('are never followed to another origin, with any status', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const other = await redirecting([]);
      const { port } = new URL(other.url);
      for (const location of [`${other.url}/steal?x=1`, `//127.0.0.1:${port}/`, `http://localhost:${port}/`]) {
        const own = await redirecting([{ status, location }]);
        const { result } = await send(own.url);
        expect(result.failure?.status).toBe(status);
        expect(result.failure?.body).toMatch(/redirect to http:\/\/[a-z0-9.]+:\d+, which is not followed/);
        expect(own.seen).toHaveLength(1);
      }
      expect(other.seen).toEqual([]);
    }
  });

  it('within the origin are followed, with key and body where the status preserves them', async () => {
    const own = await redirecting([
      { status: 307, location: '/v2' },
      { status: 308, location: 'v3?b=c' },
    ]);
    expect(await send(own.url)).toMatchObject({ status: 200, text: 'end' });
    expect(own.seen.map(({ method, url, key, body }) => [method, url, key, body])).toEqual([
      ['POST', '/v1', 'secret', '{"a":1}'],
      ['POST', '/v2', 'secret', '{"a":1}'],
      ['POST', '/v3?b=c', 'secret', '{"a":1}'],
    ]);
    const other = await redirecting([{ status: 303, location: '/v2' }]);
    await send(other.url);
    expect(other.seen.at(-1)).toMatchObject({ method: 'GET', body: '' });
  });

  it('are followed at most three times', async () => {
    const own = await redirecting(Array.from({ length: 9 }, () => ({ status: 307, location: '/again' })));
    expect((await send(own.url)).result.failure?.status).toBe(307);
    expect(own.seen).toHaveLength(4);
  });

  it('without a valid location are treated as the response', async () => {
    for (const answer of [{ status: 302 }, { status: 302, location: 'http://[broken' }]) {
      const own = await redirecting([answer]);
      expect((await send(own.url)).result.failure?.status).toBe(302);
      expect(own.seen).toHaveLength(1);
    }
  });
});

describe('transport', () => {
  it('uses the proxy of the environment, but never for loopback', async () => {
    const transport = createTransport();
    proxy.on('connect', (request, socket) => {
      proxied.push(request.url ?? '');
      socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    });
    const outside = transport.exchange({});
    await outside.fetch('http://model.invalid/v1').catch(() => {});
    expect(proxied.join()).toContain('model.invalid');
    proxied.length = 0;
    server.enqueue({ text: 'direct' });
    const client = createModelClient({ logins: noLogins });
    await client.streamModel(modelRequest(resolvedModel(server, 'native')), () => {});
    expect(proxied).toEqual([]);
    await client.close();
    await transport.close();
  });

  it('decodes a response that a proxy encoded without a request to do so', async () => {
    const served = createServer((request, response) => {
      const asked = String(request.headers['accept-encoding']);
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`asked for ${asked}`));
    });
    await new Promise<void>((resolve) => served.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void served.close());
    const transport = createTransport();
    onTestFinished(() => transport.close());
    const url = `http://127.0.0.1:${(served.address() as AddressInfo).port}`;
    const response = await transport.exchange({}).fetch(url);
    expect(await response.text()).toBe('asked for identity');
  });

  it('ignores environment variables of the SDKs', async () => {
    vi.stubEnv('OPENAI_ORG_ID', 'org');
    vi.stubEnv('OPENAI_API_KEY', 'env-key');
    vi.stubEnv('ANTHROPIC_API_KEY', 'env-key');
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'env-key');
    vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', 'X-Env: env-key');
    vi.stubEnv('GOOGLE_API_KEY', 'env-key');
    vi.stubEnv('GOOGLE_GENAI_USE_VERTEXAI', 'true');
    const client = createModelClient({ logins: noLogins });
    for (const type of ['native', 'openai_responses', 'anthropic', 'google-genai'] as const) {
      server.enqueue({ text: 'ok' });
      const model = resolvedModel(server, type, { credential: undefined, headers: { 'X-Own': 'kept' } });
      await client.streamModel(modelRequest(model), () => {});
    }
    const sent = JSON.stringify(server.requests.map(({ headers, path }) => ({ headers, path })));
    expect(sent).not.toMatch(/env-key|"org"|authorization|x-goog-api-key|vertex|projects/);
    expect(server.requests.map(({ headers }) => headers['x-own'])).toEqual(['kept', 'kept', 'kept', 'kept']);
    await client.close();
  });
});
