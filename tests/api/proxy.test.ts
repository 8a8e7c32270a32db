/** `--trust-proxy`: who a client is, and what exists on a server that a proxy makes reachable. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseTrustedProxies } from '#server/net/trusted-proxies.ts';
import { rawRequest, rawUpgrade } from '#support/raw-request.ts';
import { startServer, type TestServer, type TestServerOptions } from '#support/server.ts';
import { connect } from '#support/ws-client.ts';

let server: TestServer;
const start = async (trusted: string[], options: TestServerOptions = {}) => {
  server = await startServer({ trustedProxies: parseTrustedProxies(trusted), ...options });
};
afterEach(() => server.close());

async function status(headers: Record<string, string>, path = '/api/v1/meta', method = 'GET'): Promise<number> {
  return (await rawRequest(server.url, { path, method, headers })).status;
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Fails ten times, each time with the next of the addresses. */
async function fail(addresses: readonly string[]): Promise<number[]> {
  const statuses = [];
  for (let n = 0; n < 10; n += 1) {
    const forwarded = addresses[n % addresses.length] ?? '';
    statuses.push(await status({ ...bearer('bad'), 'x-forwarded-for': forwarded }));
  }
  return statuses;
}
const unauthorized = Array.from({ length: 10 }, () => 401);

const list = z.object({ connections: z.array(z.object({ remote_address: z.string().nullable() })) });
async function addressOfSocket(headers: Record<string, string>): Promise<unknown> {
  const socket = await connect(server, { headers });
  const { connections } = list.parse((await server.api('GET', '/connections')).data);
  await socket.close();
  return connections.map(({ remote_address }) => remote_address);
}

describe('a peer that is not listed', () => {
  beforeEach(() => start(['192.0.2.1']));

  it('chooses no address: it is banned with any', async () => {
    expect(await fail(['127.0.0.1', '8.8.8.8', '192.0.2.1', '::1'])).toEqual(unauthorized);
    expect(await status({ ...bearer(server.token), 'x-forwarded-for': '9.9.9.9' })).toBe(429);
  });

  it('chooses no host, and no address of its WebSocket', async () => {
    expect(await status({ host: 'evil.test', 'x-forwarded-host': 'localhost' }, '/')).toBe(403);
    expect(await status({ 'x-forwarded-host': 'evil.test' }, '/')).not.toBe(403);
    expect(await addressOfSocket({ 'x-forwarded-for': '8.8.8.8' })).toEqual(['127.0.0.1']);
  });
});

describe('a listed peer', () => {
  it('names the address that is banned; what a client claims in front of it has no effect', async () => {
    await start(['loopback']);
    expect(await fail(['127.0.0.1, 192.0.2.7', '8.8.8.8, 192.0.2.7', '192.0.2.7'])).toEqual(unauthorized);
    expect(await status({ ...bearer(server.token), 'x-forwarded-for': '127.0.0.1, 192.0.2.7' })).toBe(429);
    const upgrade = await rawUpgrade(server.url, '/api/v1/ws', {
      'X-Forwarded-For': '::1,192.0.2.7',
      Authorization: `Bearer ${server.token}`,
    });
    expect(upgrade).toMatch(/^HTTP\/1\.1 429 /);
    expect(await status({ ...bearer(server.token), 'x-forwarded-for': '192.0.2.8' })).toBe(200);
    expect(await status(bearer(server.token))).toBe(200);
  });

  it('failed upgrades count for the address that it names', async () => {
    await start(['loopback']);
    for (let n = 0; n < 10; n += 1) {
      const headers = { 'X-Forwarded-For': '192.0.2.7', Authorization: 'Bearer bad' };
      expect(await rawUpgrade(server.url, '/api/v1/ws', headers)).toMatch(/^HTTP\/1\.1 401 /);
    }
    expect(await status({ ...bearer(server.token), 'x-forwarded-for': '192.0.2.7' })).toBe(429);
    expect(await status(bearer(server.token))).toBe(200);
  });

  it('names the host that is checked, and the address of a WebSocket', async () => {
    await start(['loopback'], { allowedHosts: ['public.test'] });
    expect(await status({ 'x-forwarded-host': 'evil.test' }, '/')).toBe(403);
    expect(await status({ host: 'inner.test', 'x-forwarded-host': 'public.test' }, '/')).not.toBe(403);
    expect(await addressOfSocket({ 'x-forwarded-for': '127.0.0.1, 192.0.2.7' })).toEqual(['192.0.2.7']);
    const origin = { 'x-forwarded-host': 'public.test', origin: 'https://public.test' };
    const { headers } = await rawRequest(server.url, { path: '/api/v1/healthz', headers: origin });
    expect(headers['access-control-allow-origin']).toBe('https://public.test');
  });

  it('makes the own origin without a token: of its scheme and host only', async () => {
    await start(['loopback'], { bypassAuth: true, allowedHosts: ['public.test'] });
    const from = (origin: string) =>
      status({ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'public.test', origin });
    expect(await from('https://public.test')).toBe(200);
    for (const origin of ['http://public.test', 'https://public.test:8443', server.url]) {
      expect(await from(origin)).toBe(403);
    }
    const upgrade = (Origin: string) =>
      rawUpgrade(server.url, '/api/v1/ws', { Origin, 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'public.test' });
    expect(await upgrade('http://public.test')).toMatch(/^HTTP\/1\.1 403 /);
    expect(await upgrade('https://public.test')).toMatch(/^HTTP\/1\.1 101 /);
  });
});

it('a server with the option counts as reachable by others, for direct connections too', async () => {
  await start(['192.0.2.1'], { debugEndpoints: true });
  expect(await server.api('POST', '/shutdown')).toMatchObject({ status: 404, code: 40400 });
  expect(await server.api('GET', '/sessions/x/terminals')).toMatchObject({ status: 404, code: 40400 });
  expect(await server.api('GET', '/debug/services')).toMatchObject({ status: 404, code: 40400 });
  const remote = await server.api('POST', '/remote-control', { enabled: true });
  expect(remote.msg).toBe('Remote control cannot be combined with --trust-proxy.');
  const { headers } = await rawRequest(server.url, { path: '/api/v1/healthz' });
  expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' });
});

it('the options for other machines mount shutdown and terminals', async () => {
  await start(['loopback'], { allowRemoteShutdown: true, allowRemoteTerminals: true });
  expect((await server.api('GET', '/sessions/x/terminals')).code).toBe(40401);
  expect(await server.api('POST', '/shutdown')).toMatchObject({ code: 0, data: { ok: true } });
});

describe('without the option', () => {
  it.each([
    ['a loopback bind notices a proxy once', '127.0.0.1', 1],
    ['a bind that others reach does not', '0.0.0.0', 0],
  ])('%s', async (_title, host, expected) => {
    server = await startServer({ host });
    let seen = 0;
    server.app.access.onProxySeen(() => (seen += 1));
    await status({ forwarded: 'for=1.2.3.4' });
    expect(seen).toBe(0);
    for (let n = 0; n < 3; n += 1) await status({ 'x-forwarded-for': '1.2.3.4' });
    await rawUpgrade(server.url, '/api/v1/ws', { 'X-Forwarded-For': '1.2.3.4' });
    expect(seen).toBe(expected);
    expect(await addressOfSocket({ 'x-forwarded-for': '1.2.3.4' })).toEqual(['127.0.0.1']);
  });
});
