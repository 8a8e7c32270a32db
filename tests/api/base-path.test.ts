/** `--base-path`: the same requests with the base path and, as from a proxy that has removed it, without. */
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { defineEventHandler, defineWebSocketHandler } from 'h3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { rawRequest, rawUpgrade } from '#support/raw-request.ts';
import { startServer, type TestServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import { connect } from '#support/ws-client.ts';

let web: string;
let server: TestServer;
beforeAll(async () => {
  web = await temporaryDirectory();
  await mkdir(join(web, 'assets'));
  await writeFile(join(web, 'assets', 'a.js'), 'code();');
  await writeFile(join(web, 'index.html'), '<head><script src="./assets/a.js"></script></head>');
  server = await startServer({
    basePath: '/code',
    webDirectory: web,
    plain: [
      { route: '/url', method: 'get', handler: defineEventHandler(({ path, node }) => ({ path, url: node.req.url })) },
      { route: '/socket', handler: defineWebSocketHandler({ open: (peer) => void peer.send('open') }) },
      { route: '/code', handler: defineEventHandler(() => 'plain') },
    ],
  });
});
afterAll(async () => {
  await server.close();
  await rm(web, { recursive: true });
});

const get = (path: string, method = 'GET', headers: Record<string, string> = {}) =>
  rawRequest(server.url, { path, method, headers });
const withToken = () => ({ authorization: `Bearer ${server.token}` });

describe.each(['/code', ''])('with %j in front', (base) => {
  it('the page knows the base path', async () => {
    for (const path of ['/', '/sessions/x']) {
      const { status, text } = await get(base + path);
      expect(status).toBe(200);
      expect(text).toContain('src="/code/assets/a.js"');
      expect(text).toContain('<meta name="service-base" content="/code/" />');
    }
  });

  it('assets, endpoints and sockets are found, and need the token', async () => {
    expect(await get(`${base}/assets/a.js`)).toMatchObject({ status: 200, text: 'code();' });
    expect((await get(`${base}/api/v1/healthz`)).status).toBe(200);
    for (const path of ['/api/v1/meta', '/api/v1/%6deta', '/openapi.json']) {
      expect((await get(base + path)).status).toBe(401);
      expect((await get(base + path, 'GET', withToken())).status).toBe(200);
    }
    const socket = await connect(server, { path: `${base}/api/v1/ws` });
    expect(socket.hello.type).toBe('server_hello');
    await socket.close();
    expect(await rawUpgrade(server.url, `${base}/api/v1/ws`)).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('plain handlers see no base path, and take sockets', async () => {
    const { text } = await get(`${base}/url?a=1`, 'GET', withToken());
    expect(JSON.parse(text)).toEqual({ path: '/url?a=1', url: '/url?a=1' });
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}${base}/socket`, { headers: withToken() });
    const first = await new Promise((resolve, reject) => {
      socket.once('message', resolve).once('error', reject).once('close', reject);
    });
    expect(String(first)).toBe('open');
    socket.terminate();
  });

  it('the query arrives', async () => {
    const { status, text } = await get(`${base}/api/v1/sessions?page_size=x`, 'GET', withToken());
    expect([status, text]).toEqual([200, expect.stringContaining('page_size')]);
  });
});

it('messages show the path as received', async () => {
  expect((await get('/code/api/v1/no%70e', 'GET', withToken())).text).toContain(
    'Route GET:/code/api/v1/nope not found',
  );
  expect((await get('/api/v1/nope', 'GET', withToken())).text).toContain('Route GET:/api/v1/nope not found');
});

describe('exactly the base path', () => {
  it.each(['GET', 'HEAD'])('is redirected for %s', async (method) => {
    expect(await get('/code', method)).toMatchObject({ status: 301, headers: { location: '/code/' } });
    expect(await get('/code?a=1&b', method)).toMatchObject({ status: 301, headers: { location: '/code/?a=1&b' } });
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('is no route for %s', async (method) => {
    const answer = await get('/code', method);
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining(`Route ${method}:/code not found`)]);
  });

  it('is redirected for an allowed Host only', async () => {
    expect((await get('/code', 'GET', { host: 'evil.test' })).status).toBe(403);
  });

  it('takes no upgrade', async () => {
    const headers = { Authorization: `Bearer ${server.token}` };
    for (const path of ['/code', '/code/', '/codex/api/v1/ws', '/code/code/api/v1/ws', '%2Fcode/api/v1/ws']) {
      expect(await rawUpgrade(server.url, path, headers)).not.toContain(' 101 ');
    }
  });
});

it.each([
  ['/codex/api/v1/meta', 200],
  ['/code/code/api/v1/meta', 200],
  ['/Code/api/v1/meta', 200],
  ['/%63ode/api/v1/meta', 200],
  ['%2Fcode/api/v1/meta', 400],
])('%s is no endpoint', async (path, status) => {
  // A path that names nothing is the page.
  const answer = await get(path, 'GET', withToken());
  expect([answer.status, answer.text.includes('server_version')]).toEqual([status, false]);
});

it('a path with dot segments is no way around the token', async () => {
  for (const path of [
    '/code/../api/v1/meta',
    '/code/./api/v1/meta',
    '/code//api/v1/meta',
    '/code/%2e%2e/api/v1/meta',
  ]) {
    expect((await get(path)).text).not.toContain('server_version');
  }
  expect((await get('/code/%61pi/v1/meta')).status).toBe(401);
});

it('the documents and the instance file name the base path', async () => {
  expect(await (await server.fetch('/code/openapi.json')).json()).toMatchObject({ servers: [{ url: '/code' }] });
  expect(await (await server.fetch('/asyncapi.json')).json()).toMatchObject({
    servers: { local: { protocol: 'ws', pathname: '/code/api/v1/ws' } },
    channels: { serviceCodeWebSocket: { address: '/code/api/v1/ws' } },
  });
  const folder = join(server.home, 'server', 'instances');
  const [name = ''] = await readdir(folder);
  expect(JSON.parse(await readFile(join(folder, name), 'utf8'))).toMatchObject({ base_path: '/code' });
});
