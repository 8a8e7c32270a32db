/** Limits on the time of a request and on the number of connections. */
import { once } from 'node:events';
import { Agent, request as httpRequest } from 'node:http';
import { connect as connectSocket, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { appOptions, type HttpLimits } from '#server/app/options.ts';
import { createLogger } from '#server/logging/log.ts';
import { until } from '#support/patience.ts';
import { rawExchange } from '#support/raw-request.ts';
import { startServer, type TestServer, type TestServerOptions } from '#support/server.ts';

let server: TestServer;
const sockets: Socket[] = [];
const agents: Agent[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const agent of agents.splice(0)) agent.destroy();
  await server.close();
});

const defaults = appOptions({ home: '/', log: createLogger('silent') }).httpLimits;

async function start(limits: Partial<HttpLimits>, options: TestServerOptions = {}): Promise<void> {
  server = await startServer({ ...options, httpLimits: { ...defaults, ...limits } });
}

/** Opens a connection, sends `text` and waits. */
async function open(text = ''): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connectSocket(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined).resume();
  await once(socket, 'connect');
  if (text !== '') socket.write(text);
  return socket;
}

/** Sends requests over one keep-alive connection; reopens it if it was closed meanwhile. */
function client({ withToken = true } = {}) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agents.push(agent);
  const headers = withToken ? { authorization: `Bearer ${server.token}` } : {};
  const send = (path: string): Promise<{ status: number | undefined; reused: boolean }> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(server.url + path, { agent, headers }, (answer) => {
        answer.resume().once('end', () => resolve({ status: answer.statusCode, reused: sent.reusedSocket }));
      });
      // The close may reach the client after it has sent.
      sent.once('error', (error) => (sent.reusedSocket ? resolve(send(path)) : reject(error)));
      sent.end();
    });
  return send;
}

const isOpen = (socket: Socket) => !socket.destroyed && !socket.closed;

it('by default headers may take 10 s, and a body may pause for 60 s', async () => {
  server = await startServer();
  expect(server.app.options.httpLimits).toEqual({
    headersMs: 10_000,
    headersCheckMs: 2000,
    bodyIdleMs: 60_000,
    maxConnections: undefined,
  });
});

describe('time', () => {
  it.each(['', 'G', 'GET /api/v1/healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: '])(
    'an incomplete header block is answered with a bare 408 after the time limit: %j',
    async (text) => {
      await start({ headersMs: 100, headersCheckMs: 20 });
      const answer = await rawExchange(server.url, text, () => false);
      expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\nConnection: close\r\n\r\n$/);
    },
  );

  it('an idle keep-alive connection is exempt', async () => {
    await start({ headersMs: 100, headersCheckMs: 20 });
    const get = client();
    expect(await get('/api/v1/meta')).toEqual({ status: 200, reused: false });
    // The 408 of another connection proves that the time has passed.
    await rawExchange(server.url, 'GET', () => false);
    expect(await get('/api/v1/meta')).toEqual({ status: 200, reused: true });
  });

  const upload = (length: number) =>
    `POST /api/v1/files HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\n` +
    `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${length}\r\n\r\n`;
  const HEAD = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n';
  const END = '\r\n--b--\r\n';

  it.each([
    [
      'JSON',
      () =>
        `${upload(100).replace('multipart/form-data; boundary=b', 'application/json').replace('/files', '/sessions')}{"a`,
    ],
    ['a form', () => `${upload(1000)}${HEAD}some`],
    ['a form of which nothing comes', () => upload(1000)],
  ])('a connection whose body stalls is closed without an answer: %s', async (_what, text) => {
    await start({ bodyIdleMs: 100 });
    expect(await rawExchange(server.url, text(), () => false)).toBe('');
    expect(await server.app.uploads.open('f_none')).toBeUndefined();
  });

  it('an upload that exceeds the limit in total, but never between two bytes, is accepted', async () => {
    const bodyIdleMs = 2000;
    await start({ bodyIdleMs });
    const bytes = 12;
    const socket = await open(upload(HEAD.length + bytes + END.length) + HEAD);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    const startedAt = performance.now();
    for (let sent = 0; sent < bytes; sent += 1) {
      await delay(bodyIdleMs / 8);
      socket.write('x');
    }
    expect(performance.now() - startedAt).toBeGreaterThan(bodyIdleMs);
    socket.write(END);
    await until(() => answer.includes('"code":0'), 'the answer');
    expect(answer).toContain(`"size":${bytes}`);
  });
});

describe('connections', () => {
  it('at the limit, a new connection closes the oldest idle one that sent no token', async () => {
    await start({ maxConnections: 3 });
    const idle = [await open(), await open('GET / HTT'), await open()];
    const get = client();
    expect(await get('/api/v1/meta')).toMatchObject({ status: 200 });
    await until(() => idle[0] && !isOpen(idle[0]));
    expect(idle.slice(1).map(isOpen)).toEqual([true, true]);
    // The client's connection is the youngest, and stays open regardless of new ones.
    for (let count = 0; count < 10; count += 1) await open();
    expect(await get('/api/v1/meta')).toEqual({ status: 200, reused: true });
  });

  it('connections without a valid token are closed; those with one are not', async () => {
    await start({ maxConnections: 3 });
    const [valid, none] = [client(), client({ withToken: false })];
    await valid('/api/v1/meta');
    await none('/api/v1/healthz');
    expect(await none('/api/v1/meta')).toEqual({ status: 401, reused: true });
    for (let count = 0; count < 3; count += 1) await open();
    expect(await valid('/api/v1/meta')).toEqual({ status: 200, reused: true });
    expect((await none('/api/v1/healthz')).reused).toBe(false);
  });

  it('running requests and WebSockets are never closed; if there are no others, the new connection is', async () => {
    await start({ maxConnections: 3 });
    const bearer = { authorization: `Bearer ${server.token}` };
    const webSockets = [1, 2].map(() => new WebSocket(`${server.url}/api/v1/ws`, { headers: bearer }));
    await Promise.all(webSockets.map((socket) => once(socket, 'open')));
    const running = await open(
      `POST /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${bearer.authorization}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n',
    );
    let answer = '';
    running.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    await until(() => answer.includes('100 Continue'), 'the request is under way');

    for (let count = 0; count < 3; count += 1) await once(await open(), 'close');
    running.write('{}');
    await until(() => answer.includes('"code":40001'), 'the answer');
    for (const socket of webSockets) {
      socket.ping();
      await once(socket, 'pong');
      socket.terminate();
    }
  });

  it('if no token is required, the oldest idle connection is closed, whether it sent one or not', async () => {
    await start({ maxConnections: 3 }, { bypassAuth: true });
    const get = client();
    await get('/api/v1/meta');
    for (let count = 0; count < 3; count += 1) await open();
    expect(await get('/api/v1/meta')).toEqual({ status: 200, reused: false });
  });

  it('a closed connection frees its slot', async () => {
    await start({ maxConnections: 2 });
    for (let count = 0; count < 10; count += 1) {
      const get = client();
      // The server notices the previous close a moment later.
      const answer = await until(() => get('/api/v1/meta').catch(() => undefined), 'an answer');
      expect(answer.status).toBe(200);
      agents.pop()?.destroy();
    }
  });
});
