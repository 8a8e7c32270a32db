/** Requests on connections of the remote-control tunnel: their rules differ from those of connections to the port. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import endpoints from '#endpoints';
import { answerOf, exchange, openConnection, PUBLIC_HOST, PUBLIC_ORIGIN } from '#support/tunnel-connections.ts';
import { tunnelRequest, tunnelSocket, type TunnelRequest } from '#support/tunnel-connections.ts';
import { publicPath } from '#utils/http/route-table.ts';
import { createLogger } from '#server/logging/log.ts';
import { eventually } from '#support/patience.ts';
import { integer, pick, seeded } from '#support/random.ts';
import { rawRequest } from '#support/raw-request.ts';
import { startServer, type TestServer, type TestServerOptions } from '#support/server.ts';
import { openTerminal, viewTerminal } from '#support/terminals.ts';
import { startWorld } from '#support/world.ts';

const META = '/api/v1/meta';
const HEALTH = '/api/v1/healthz';

const opened: TestServer[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});
async function start(options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startServer(options);
  opened.push(server);
  return server;
}

const send = ({ app, token }: TestServer, request: Partial<TunnelRequest> = {}) =>
  tunnelRequest(app, { path: META, token, ...request });

/** Sends an upgrade; resolves to the status of the answer. */
async function upgradeStatus({ app, token }: TestServer, headers: Record<string, string>, facts = {}) {
  const all = {
    host: PUBLIC_HOST,
    connection: 'upgrade',
    upgrade: 'websocket',
    authorization: `Bearer ${token}`,
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const relay = openConnection(app, facts);
  const answer = answerOf(relay);
  relay.once('data', (chunk: Buffer) => chunk.includes(' 101 ') && relay.destroy());
  relay.write(`GET /api/v1/ws HTTP/1.1\r\n${lines.join('')}\r\n`);
  return Number(/^HTTP\/1\.1 (\d+)/.exec(await answer)?.[1]);
}

describe('on a loopback bind', () => {
  const lines: unknown[] = [];
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ log: createLogger('info', (line) => lines.push(JSON.parse(line))) });
  });
  afterAll(() => server.close());

  it('the token is required, except for the health check and the page', async () => {
    expect(await send(server)).toMatchObject({ status: 200, code: 0 });
    expect(await send(server, { token: null })).toMatchObject({ status: 401, code: 40101 });
    expect(await send(server, { token: null, path: '/openapi.json' })).toMatchObject({ status: 401 });
    expect(await send(server, { token: null, path: HEALTH })).toMatchObject({ status: 200, code: 0 });
    // There is no page here, but no token is missing.
    expect(await send(server, { token: null, path: '/' })).toMatchObject({ status: 404, code: undefined });
    expect(await upgradeStatus(server, {})).toBe(101);
    expect(await upgradeStatus(server, { authorization: 'Bearer wrong' })).toBe(401);
  });

  it.each([
    ['the host of the bind', { host: '127.0.0.1' }, 403],
    ['a loopback name', { host: 'localhost' }, 403],
    ['the public name with another port', { host: 'relay.test' }, 403],
    ['another host', { host: 'evil.test' }, 403],
    ['the public origin', { origin: PUBLIC_ORIGIN }, 200],
    ['the public host with another scheme', { origin: `http://${PUBLIC_HOST}` }, 403],
    ['an origin of the same name', { origin: 'https://relay.test' }, 403],
    ['a loopback origin', { origin: 'http://localhost:3000' }, 403],
    ['the origin of a sandboxed frame', { origin: 'null' }, 403],
  ])('a request with %s (%o) is answered with %i, also as an upgrade', async (_name, headers, status) => {
    for (const path of [META, HEALTH, '/']) {
      const answer = await send(server, { path, headers });
      expect([path, answer.status]).toEqual([path, status === 200 && path === '/' ? 404 : status]);
      if (status === 403) expect(answer.code).toBe(40301);
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
    expect(await upgradeStatus(server, headers)).toBe(status === 200 ? 101 : status);
  });

  it('a missing host is refused', async () => {
    const request = `GET ${META} HTTP/1.1\r\nauthorization: Bearer ${server.token}\r\n\r\n`;
    expect(await exchange(server.app, request)).toContain('"msg":"Invalid Host header: <missing>."');
  });

  it('OPTIONS is no preflight: it is answered as an unknown route', async () => {
    const headers = { origin: PUBLIC_ORIGIN, 'access-control-request-method': 'POST' };
    const answer = await send(server, { method: 'OPTIONS', token: null, headers });
    expect(answer).toMatchObject({ status: 404, code: 40400 });
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('every answer has the security headers; those of the port stay without', async () => {
    for (const [path, token] of [
      [META, server.token],
      [META, null],
      [HEALTH, null],
      ['/', null],
    ] as const) {
      const { headers } = await send(server, { path, token });
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'content-security-policy': expect.stringMatching(/frame-ancestors 'self'$/),
      });
      expect(headers).not.toHaveProperty('strict-transport-security');
    }
    const { headers } = await rawRequest(server.url, { path: HEALTH });
    expect(headers).not.toHaveProperty('content-security-policy');
  });

  it('the documents describe the port', async () => {
    const document = await send(server, { path: '/openapi.json' });
    expect(document.bytes.toString()).toBe(await (await server.fetch('/openapi.json')).text());
    expect(document.bytes.toString()).toContain('"/api/v1/shutdown"');
  });

  it('a connection and a log line have the address of the browser', async () => {
    const facts = { remoteAddress: '2001:db8::1' };
    const client = await tunnelSocket(server, { facts });
    const list = z.object({ data: z.object({ connections: z.array(z.object({ remote_address: z.string() })) }) });
    const { data } = list.parse(JSON.parse((await send(server, { path: '/api/v1/connections' })).bytes.toString()));
    expect(data.connections).toContainEqual({ remote_address: '2001:db8::1' });
    await client.close();
    await send(server, { path: `${META}?of=browser`, facts });
    const line = { msg: 'request completed', req: { url: `${META}?of=browser`, ...facts } };
    await eventually(() =>
      expect(lines).toContainEqual(expect.objectContaining({ ...line, req: expect.objectContaining(line.req) })),
    );
  });

  it('a prefix that no path has ends the connection', async () => {
    const request = `GET ${HEALTH} HTTP/1.1\r\nhost: ${PUBLIC_HOST}\r\n\r\n`;
    for (const prefix of ['/d/', '//evil.test', '/a/../b', '/.', '"><script>', '/a"b', 'd', '/a\\b', '/a b', '/a\n']) {
      expect([prefix, await exchange(server.app, request, { prefix })]).toEqual([prefix, '']);
    }
    for (const prefix of ['', '/d', '/a.b/~c/%20']) {
      expect(await exchange(server.app, request, { prefix })).toMatch(/^HTTP\/1\.1 200 /);
    }
  });
});

it('the token is required also with --dangerous-bypass-auth', async () => {
  const server = await start({ bypassAuth: true });
  expect((await rawRequest(server.url, { path: META })).status).toBe(200);
  expect(await send(server, { token: null })).toMatchObject({ status: 401, code: 40101 });
  expect(await upgradeStatus(server, { authorization: '' })).toBe(401);
});

describe('the ban', () => {
  /** Fails `count` times from an address. */
  async function fail(server: TestServer, remoteAddress: string, count: number): Promise<number[]> {
    const statuses: number[] = [];
    for (let n = 0; n < count; n++) {
      statuses.push((await send(server, { token: 'wrong', facts: { remoteAddress } })).status);
    }
    return statuses;
  }

  it('is that of one address of the tunnel; the port of a loopback bind stays as before', async () => {
    const server = await start();
    expect(await fail(server, '203.0.113.1', 11)).toEqual([...Array<number>(10).fill(401), 429]);
    const facts = { remoteAddress: '203.0.113.1' };
    expect(await send(server, { facts })).toMatchObject({ status: 429, code: 42901 });
    expect(await send(server, { facts, path: '/' })).toMatchObject({ status: 429 });
    expect(await upgradeStatus(server, {}, facts)).toBe(429);
    expect(await send(server, { facts: { remoteAddress: '203.0.113.2' } })).toMatchObject({ status: 200 });
    expect((await server.api('GET', '/meta')).status).toBe(200);
    // Failures at the port are not counted, and those of the tunnel name no address of the port.
    expect(await fail(server, '127.0.0.1', 10)).toEqual(Array<number>(10).fill(401));
    const wrong = { path: META, headers: { authorization: 'Bearer wrong' } };
    for (let n = 0; n < 11; n++) expect((await rawRequest(server.url, wrong)).status).toBe(401);
    expect((await server.api('GET', '/meta')).status).toBe(200);
  });

  it('counts failed upgrades, and the addresses of an IPv6 network as one', async () => {
    const server = await start();
    for (let n = 0; n < 10; n++) {
      const facts = { remoteAddress: `2001:db8:0:1::${n}` };
      expect(await upgradeStatus(server, { authorization: 'Bearer wrong' }, facts)).toBe(401);
    }
    expect(await send(server, { facts: { remoteAddress: '2001:db8:0:1:ffff::1' } })).toMatchObject({ status: 429 });
    expect(await send(server, { facts: { remoteAddress: '2001:db8:0:2::1' } })).toMatchObject({ status: 200 });
  });
});

describe('endpoints that an open bind lacks', () => {
  const routes = endpoints
    .filter(({ route }) => /\/(shutdown|terminals|debug)\b/.test(route))
    .map(({ method, route }) => ({ method: method.toUpperCase(), path: publicPath(route.replaceAll(/:[^/]+/g, 'x')) }));
  const isDebug = ({ path }: { path: string }) => path.startsWith('/api/v1/debug/');
  const statusOf = async (server: TestServer, { method, path }: { method: string; path: string }) =>
    (await send(server, { method, path })).code;

  it('are unknown routes, while the port has them', async () => {
    const server = await start({ debugEndpoints: true });
    expect(routes.length).toBeGreaterThan(14);
    for (const route of routes) expect([route, await statusOf(server, route)]).toEqual([route, 40400]);
    expect((await server.api('GET', '/sessions/x/terminals')).code).toBe(40401);
    expect((await server.api('POST', '/shutdown')).code).toBe(0);
    await server.app.stopRequested;
  });

  it('exist with the option for other machines, except those for debugging', async () => {
    const options = { debugEndpoints: true, allowRemoteShutdown: true, allowRemoteTerminals: true };
    const server = await start(options);
    for (const route of routes) {
      expect([route, await statusOf(server, route)]).toEqual([route, isDebug(route) ? 40400 : expect.any(Number)]);
      if (!isDebug(route)) expect(await statusOf(server, route)).not.toBe(40400);
    }
    await server.app.stopRequested;
  });

  it.each([false, true])('frames of terminals follow the option (%s)', async (allowRemoteTerminals) => {
    const world = await startWorld({ allowRemoteTerminals });
    const { id } = await world.session();
    const terminal = await openTerminal(world, id);
    const viewed = viewTerminal(await tunnelSocket(world.server), terminal);
    const code = allowRemoteTerminals ? 0 : 40414;
    expect(await viewed.send('attach')).toMatchObject({ code });
    expect(await viewed.send('input', { data: 'x' })).toMatchObject({ code });
    expect(await viewed.send('resize', { cols: 80, rows: 24 })).toMatchObject({ code });
    expect(await viewed.send('detach')).toMatchObject({ code });
    expect(await viewed.send('close')).toMatchObject({ code });
    await world.close();
  });
});

it('forwarded headers and invented ones change no decision', async () => {
  const server = await start();
  const random = seeded(25);
  const NAMES = [
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-forwarded-prefix',
    'x-forwarded-port',
    'forwarded',
    'x-real-ip',
    'x-service-relay',
    'x-service-connection',
    'via',
    'x-original-host',
    'cf-connecting-ip',
  ];
  const VALUES = [
    '127.0.0.1',
    'localhost',
    '::1',
    'https',
    'for=127.0.0.1;host=localhost;proto=http',
    'bind',
    PUBLIC_HOST,
  ];
  const forged = () =>
    Object.fromEntries(
      Array.from({ length: 1 + integer(random, 5) }, () => [pick(random, NAMES), pick(random, VALUES)] as const),
    );
  /** The decisions of each kind of connection, without forged headers. */
  const requests: { request: Partial<TunnelRequest>; code: number }[] = [
    { request: {}, code: 0 },
    { request: { method: 'POST', path: '/api/v1/shutdown' }, code: 40400 },
    { request: { path: '/api/v1/sessions/x/terminals' }, code: 40400 },
    { request: { headers: { host: 'localhost' } }, code: 40301 },
    { request: { headers: { origin: 'http://localhost' } }, code: 40301 },
  ];
  for (let n = 0; n < 60; n++) {
    const { request, code } = pick(random, requests);
    const headers = { ...forged(), ...request.headers };
    const answer = await send(server, { ...request, headers });
    expect([headers, answer.code]).toEqual([headers, code]);
    expect(answer.headers).toHaveProperty('content-security-policy');
    // At the port they deny nothing and claim nothing.
    const local = await rawRequest(server.url, {
      path: '/api/v1/sessions/x/terminals',
      headers: { ...forged(), authorization: `Bearer ${server.token}` },
    });
    expect(local.text).toContain('40401');
    expect(local.headers).not.toHaveProperty('content-security-policy');
  }
  // Ten failures with ten forged addresses are those of one browser.
  for (let n = 0; n < 10; n++) await send(server, { token: 'wrong', headers: { 'x-forwarded-for': `10.0.0.${n}` } });
  expect(await send(server)).toMatchObject({ status: 429 });
});
