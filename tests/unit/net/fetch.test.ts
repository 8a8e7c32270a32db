/** Which road requests take: proxies, the environment, headers without a key. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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

describe('transport', () => {
  it('goes through the proxy of the environment, but never for loopback', async () => {
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
    const client = createModelClient();
    await client.streamModel(modelRequest(resolvedModel(server, 'native')), () => {});
    expect(proxied).toEqual([]);
    await client.close();
    await transport.close();
  });

  it('keeps the environment of the SDKs out', async () => {
    vi.stubEnv('OPENAI_ORG_ID', 'org');
    vi.stubEnv('OPENAI_API_KEY', 'env-key');
    vi.stubEnv('ANTHROPIC_API_KEY', 'env-key');
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'env-key');
    vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', 'X-Env: env-key');
    vi.stubEnv('GOOGLE_API_KEY', 'env-key');
    vi.stubEnv('GOOGLE_GENAI_USE_VERTEXAI', 'true');
    const client = createModelClient();
    for (const type of ['native', 'openai_responses', 'anthropic', 'google-genai'] as const) {
      server.enqueue({ text: 'ok' });
      const model = resolvedModel(server, type, { apiKey: undefined, headers: { 'X-Own': 'kept' } });
      await client.streamModel(modelRequest(model), () => {});
    }
    const sent = JSON.stringify(server.requests.map(({ headers, path }) => ({ headers, path })));
    expect(sent).not.toMatch(/env-key|"org"|authorization|x-goog-api-key|vertex|projects/);
    expect(server.requests.map(({ headers }) => headers['x-own'])).toEqual(['kept', 'kept', 'kept', 'kept']);
    await client.close();
  });
});
