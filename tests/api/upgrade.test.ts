/** The upgrade of `/api/v1/ws`: refusals, and where a token may be sent. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import nodeAdapter from 'crossws/adapters/node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import * as z from 'zod';
import { createDevelopmentHooks } from '#utils/http/development-sockets.ts';
import { createRouteTable } from '#utils/http/route-table.ts';
import { until } from '#support/patience.ts';
import { rawUpgrade } from '#support/raw-request.ts';
import { startServer } from '#support/server.ts';
import type { TestServer } from '#support/server.ts';

let server: TestServer;
beforeAll(async () => (server = await startServer()));
afterAll(() => server.close());

const upgrade = (headers: Record<string, string>, path = '/api/v1/ws', to: TestServer = server): Promise<string> =>
  rawUpgrade(to.url, path, headers);
const bearer = () => ({ Authorization: `Bearer ${server.token}` });
const portSchema = z.object({ port: z.number() });
const bare = (status: string) => `HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`;

describe('upgrade', () => {
  it('is refused with a bare status line', async () => {
    expect(await upgrade({})).toBe(bare('401 Unauthorized'));
    expect(await upgrade({ ...bearer(), Host: 'evil.test' })).toBe(bare('403 Forbidden'));
    expect(await upgrade({ ...bearer(), Origin: 'https://evil.test' })).toBe(bare('403 Forbidden'));
    expect(await upgrade({}, `/api/v1/ws?token=${server.token}`)).toBe(bare('401 Unauthorized'));
  });

  it.each(['/api/v1/ws/', '/api/v1/WS', '/api/v1/%77s', '/', '/api/v1/meta'])(
    'closes %s without an answer',
    async (path) => {
      expect(await upgrade(bearer(), path)).toBe('');
    },
  );

  it('echoes the subprotocol with the token and no other', async () => {
    const carrier = `service-code.bearer.${server.token}`;
    const echoed = await upgrade({ 'Sec-WebSocket-Protocol': `chat, ${carrier}` });
    expect(echoed).toMatch(/^HTTP\/1\.1 101/);
    expect(echoed).toContain(`Sec-WebSocket-Protocol: ${carrier}\r\n`);
    const silent = await upgrade({
      ...bearer(),
      'Sec-WebSocket-Protocol': 'chat',
      'Sec-WebSocket-Extensions': 'permessage-deflate',
    });
    expect(silent).toMatch(/^HTTP\/1\.1 101/);
    expect(silent).not.toMatch(/Sec-WebSocket-(Protocol|Extensions)/i);
  });

  it('lets a header override a subprotocol', async () => {
    const carrier = { 'Sec-WebSocket-Protocol': `service-code.bearer.${server.token}` };
    expect(await upgrade({ ...carrier, Authorization: 'Bearer wrong' })).toBe(bare('401 Unauthorized'));
    expect(await upgrade({ ...carrier, Authorization: 'Basic wrong' })).toMatch(/^HTTP\/1\.1 101/);
  });

  it('is refused with 429 under a ban, which refused upgrades cause', async () => {
    const remote = await startServer({ host: '0.0.0.0' });
    try {
      for (let failures = 0; failures < 10; failures += 1) {
        expect(await upgrade({}, '/api/v1/ws', remote)).toBe(bare('401 Unauthorized'));
      }
      const valid = { Authorization: `Bearer ${remote.token}` };
      expect(await upgrade(valid, '/api/v1/ws', remote)).toBe(bare('429 Too Many Requests'));
    } finally {
      await remote.close();
    }
  });
});

it('a refused client that leaves its half of the connection open is disconnected', async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }).resume();
  socket.on('error', () => undefined);
  socket.write('GET /api/v1/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  await once(socket, 'end');
  // A write to a connection that the server has closed fails.
  await until(() => {
    if (!socket.destroyed) socket.write('x');
    return socket.destroyed;
  });
});

it('a client that resets its connection during the check affects only that connection', async () => {
  const { hostname, port } = new URL(server.url);
  for (let count = 0; count < 20; count += 1) {
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    socket.write(
      'GET /api/v1/ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      () => socket.resetAndDestroy(),
    );
    await once(socket, 'close');
  }
  expect(await upgrade(bearer())).toMatch(/^HTTP\/1\.1 101/);
});

describe('an upgrade that the development server accepts', () => {
  const CLIENT_HEADER = 'x-test-client';
  let remote: TestServer;
  let http: Server;
  let url: string;
  beforeAll(async () => {
    // Only on binds that other machines reach do failures lead to a ban.
    remote = await startServer({ host: '0.0.0.0' });
    ({ http, url } = await developmentServer(remote));
  });
  afterAll(async () => {
    http.close();
    await remote.close();
  });
  async function developmentServer({ app }: TestServer): Promise<{ http: Server; url: string }> {
    const sockets = {
      routes: createRouteTable([]),
      plain: { hooksOf: async () => undefined },
      clientHeader: CLIENT_HEADER,
    };
    const adapter = nodeAdapter({ resolve: createDevelopmentHooks(app, sockets) });
    const server = createServer().on('upgrade', (...args) => void adapter.handleUpgrade(...args));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return { http: server, url: `http://127.0.0.1:${portSchema.parse(server.address()).port}` };
  }
  const status = async (headers: Record<string, string>, path = '/api/v1/ws') =>
    /^HTTP\/1\.1 (.*)\r\n/.exec(await rawUpgrade(url, path, headers))?.[1];
  const valid = () => ({ Authorization: `Bearer ${remote.token}`, [CLIENT_HEADER]: '192.0.2.1' });

  it('is checked like any other', async () => {
    expect(await status(valid())).toBe('101 Switching Protocols');
    expect(await status(valid(), '/api/v1/ws?x=://y')).toBe('101 Switching Protocols');
    const carrier = { 'Sec-WebSocket-Protocol': `service-code.bearer.${remote.token}` };
    expect(await status({ ...carrier, [CLIENT_HEADER]: '192.0.2.1' })).toBe('101 Switching Protocols');
    expect(await status({ ...valid(), Authorization: 'Bearer wrong' })).toBe('401 Unauthorized');
    expect(await status({ [CLIENT_HEADER]: '192.0.2.1' })).toBe('401 Unauthorized');
    expect(await status({ ...valid(), Host: 'evil.test' })).toBe('403 Forbidden');
    expect(await status({ ...valid(), Host: '' })).toBe('403 Forbidden');
    expect(await status({ ...valid(), Origin: 'https://evil.test' })).toBe('403 Forbidden');
  });

  it('of another site is refused if no token is required', async () => {
    const open = await startServer({ bypassAuth: true });
    const development = await developmentServer(open);
    for (const to of [open.url, development.url]) {
      const from = (site: string) => rawUpgrade(to, '/api/v1/ws', { 'Sec-Fetch-Site': site });
      expect(await from('cross-site')).toMatch(/^HTTP\/1\.1 403/);
      expect(await from('same-site')).toMatch(/^HTTP\/1\.1 403/);
      expect(await from('same-origin')).toMatch(/^HTTP\/1\.1 101/);
    }
    development.http.close();
    await open.close();
  });

  it('has the path of its request line, whatever its Host', async () => {
    expect(await status({ ...valid(), Host: 'localhost/api/v1/ws?' }, '/')).toBe('404 Not Found');
  });

  it.each(['/', '/api/v1/ws/', '/api/v1/%77s', '/x/api/v1/ws', '/x://y/api/v1/ws'])(
    'of %s is not found',
    async (path) => {
      expect(await status(valid(), path)).toBe('404 Not Found');
      expect(await rawUpgrade(url, path, valid())).toMatch(/\r\nconnection: close\r\n/i);
    },
  );

  it('is attributed to the client that the proxy names, for bans and in the list', async () => {
    const other = { [CLIENT_HEADER]: '192.0.2.2' };
    for (let failures = 0; failures < 10; failures += 1) expect(await status(other)).toBe('401 Unauthorized');
    expect(await status({ ...valid(), ...other })).toBe('429 Too Many Requests');

    const socket = new WebSocket(`${url}/api/v1/ws`, { headers: { ...valid(), 'user-agent': 'test/2' } });
    await once(socket, 'message');
    const { data } = await remote.api('GET', '/connections');
    expect(data).toMatchObject({
      connections: expect.arrayContaining([
        expect.objectContaining({ remote_address: '192.0.2.1', user_agent: 'test/2' }),
      ]),
    });
    socket.terminate();
  });
});

it('closes a connection with 1009 if its frame is over 16 MiB', async () => {
  const socket = new WebSocket(`${server.url}/api/v1/ws`, { headers: bearer() });
  await once(socket, 'open');
  socket.send(Buffer.alloc(16 * 1024 * 1024 + 1));
  const [code] = await once(socket, 'close');
  expect(code).toBe(1009);
});
