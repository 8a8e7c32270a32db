/** Plain event handlers, middleware and in-process calls next to the endpoints. The built server and `nitro dev`: see e2e. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import * as fc from 'fast-check';
import {
  createError,
  defineEventHandler,
  defineWebSocketHandler,
  fetchWithEvent,
  readBody,
  setResponseHeader,
  toNodeListener,
  type H3Event,
} from 'h3';
import { fetchNodeRequestHandler } from 'node-mock-http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import * as z from 'zod';
import endpoints from '#endpoints';
import { ServiceError } from '#server/errors/service-error.ts';
import { createLogger } from '#server/logging/log.ts';
import { createNitroApp, type PlainFile } from '#support/nitro-app.ts';
import { requestWithoutBody } from '#support/open-requests.ts';
import { eventually } from '#support/patience.ts';
import { requestsTo } from '#support/random-targets.ts';
import { rawRequest, rawUpgrade } from '#support/raw-request.ts';
import { startServer, type TestServer } from '#support/server.ts';
import { createAssetReader } from '#utils/http/assets.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { createRouteTable } from '#utils/http/route-table.ts';

/** Names of the handlers and middleware that requests have reached. */
let reached: string[] = [];
const reach = (name: string) => defineEventHandler(() => void reached.push(name));
const hello = defineEventHandler(({ context }) => {
  reached.push('hello');
  return { hello: context.app.serverId };
});

const socketHandler = defineWebSocketHandler({
  open: (peer) => void peer.send(`token ${peer.request.headers?.get('authorization') ?? 'removed'}`),
  message: (peer, message) => void peer.send(`echo ${message.text()}`),
});

const plain: PlainFile[] = [
  { route: '/hello', method: 'get', handler: hello },
  { route: '/any', handler: reach('any') },
  { route: '/all/**:rest', handler: reach('all') },
  { route: '/preflight', method: 'options', handler: reach('options') },
  { route: '/api/v1/plain', method: 'get', handler: hello },
  { route: '/socket', handler: socketHandler },
  {
    route: '/headers',
    method: 'get',
    handler: defineEventHandler(({ headers, node }) => ({ all: [...headers.keys()], raw: node.req.rawHeaders })),
  },
  { route: '/url', method: 'get', handler: defineEventHandler(({ path, node }) => ({ path, url: node.req.url })) },
  { route: '/body', method: 'post', handler: defineEventHandler(async (event) => ({ got: await readBody(event) })) },
  {
    route: '/local',
    method: 'get',
    handler: defineEventHandler(async (event) => {
      const call = (path: string, init?: RequestInit) => fetchWithEvent(event, path, init, { fetch: localFetch });
      const json = { 'content-type': 'application/json' };
      const meta = await call('/api/v1/meta');
      const echo = await call('/api/v1/echo', { method: 'POST', headers: json, body: '{"name":"n"}' });
      const large = await call('/api/v1/echo', {
        method: 'POST',
        headers: json,
        body: `{"name":"${'n'.repeat(200)}"}`,
      });
      const form = { 'content-type': 'multipart/form-data; boundary=x' };
      const upload = await call('/api/v1/files', { method: 'POST', headers: form, body: '--x--' });
      const page = await call('/');
      const unknown = await call('/api/v1/nope');
      return Promise.all([meta.json(), echo.json(), large.json(), upload.json(), page.text(), unknown.json()]);
    }),
  },
  {
    route: '/teapot',
    method: 'get',
    handler: defineEventHandler(() => {
      throw createError({ statusCode: 418, message: 'short and stout' });
    }),
  },
  {
    route: '/refused',
    method: 'get',
    handler: defineEventHandler(() => {
      throw new ServiceError('session.not_found', 'no such session');
    }),
  },
  {
    route: '/broken',
    method: 'get',
    handler: defineEventHandler(() => {
      throw new Error('a secret');
    }),
  },
];

/** The event of the last request that reached the middleware. */
let lastEvent: H3Event | undefined;
const middleware = [
  defineEventHandler((event) => {
    lastEvent = event;
    reached.push('middleware');
    setResponseHeader(event, 'x-middleware', 'yes');
  }),
  defineEventHandler((event) => (event.path.startsWith('/api/v1/stopped') ? 'stopped' : undefined)),
  defineEventHandler(async (event) => {
    if (event.node.req.headers['x-read'] === 'yes') await readBody(event);
  }),
];

const echo = defineEndpoint({
  summary: 'Echo',
  body: z.object({ name: z.string() }),
  bodyLimit: 100,
  data: z.unknown(),
  handler: ({ body }) => body,
});
// Files that a request reaches in the router only after the table has failed to end it.
plain.push({ route: '/api/v1/echo', handler: reach('after') }, { route: '/mistaken', method: 'post', handler: echo });
const stopped = defineEndpoint({ summary: 'Stopped', data: z.unknown(), handler: () => reached.push('stopped') });

const entries = [
  ...endpoints,
  { route: '/api/v1/echo', method: 'post', load: async () => ({ default: echo }) },
  { route: '/api/v1/stopped', method: 'options', load: async () => ({ default: stopped }) },
  { route: '/api/v1/stopped', method: 'get', load: async () => ({ default: stopped }) },
];

let server: TestServer;
const host = () => ({
  app: () => server.app,
  routes: createRouteTable(entries, plain),
  assets: createAssetReader(() => import.meta.dirname),
});
const lines: string[] = [];
let localFetch: (path: string, init?: RequestInit) => Promise<Response>;
beforeAll(async () => {
  const log = createLogger('info', (line) => lines.push(line));
  const hasRule = (path: string) => path.startsWith('/old/');
  server = await startServer({ log, endpoints: entries, plain, middleware, hasRule });
  const listener = toNodeListener(createNitroApp(host(), { plain, middleware }));
  localFetch = (path, init = {}) =>
    fetchNodeRequestHandler(listener, path, { ...init, headers: Object.fromEntries(new Headers(init.headers)) });
});
afterAll(() => server.close());
beforeEach(() => {
  reached = [];
  lines.length = 0;
});

const bearer = () => ({ Authorization: `Bearer ${server.token}` });
const send = (method: string, target: string, headers?: Record<string, string>) =>
  requestWithoutBody(server.url, method, target, headers);
const status = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

describe('without the token', () => {
  const targets = [
    '/hello',
    '/%68ello',
    '//hello',
    '/hello/',
    '/hello?x',
    '/hello%2F',
    '/./hello',
    'http://localhost/hello',
    'http://elsewhere.test/hello',
    '/any',
    '/all/x',
    '/all//x',
    '/all/%2e%2e/hello',
    '/all/..%2Fapi/v1/meta',
    '/preflight',
    '/socket',
    '/old/x',
    '/api/v1/plain',
    '/api/v1%2Fplain',
    '/api/v1%2Fhealthz',
    '/api/v1/healthz/',
    '/api/v1/echo',
    '/api/v1/stopped',
  ];
  it.each(targets)('no method of %s reaches a handler, a middleware or a rule', async (target) => {
    const kinds: Record<string, string>[] = [{}, { Authorization: 'Bearer wrong' }, { Origin: 'http://localhost' }];
    for (const headers of kinds) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND']) {
        await send(method, target, headers);
        expect([method, headers, reached]).toEqual([method, headers, []]);
      }
    }
  });

  it('a served path is 401 in every method but OPTIONS, which is answered as if nothing were there', async () => {
    for (const target of ['/hello', '/%68ello', '/any', '/all/x', '/preflight', '/old/x', 'http://localhost/hello']) {
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
        expect([method, target, status(await send(method, target))]).toEqual([method, target, 401]);
      }
      expect([target, status(await send('OPTIONS', target))]).toEqual([target, 404]);
      expect([target, status(await send('OPTIONS', target, { Origin: 'http://localhost' }))]).toEqual([target, 204]);
      expect([target, status(await send('OPTIONS', target, { Authorization: 'Bearer wrong' }))]).toEqual([target, 404]);
    }
  });

  it('what nothing serves is answered as before: the page, a missing asset, an unknown route', async () => {
    for (const [method, target, expected] of [
      ['GET', '/', 404],
      ['GET', '/hello.js', 404],
      ['POST', '/nowhere', 404],
      ['GET', '/api', 404],
      ['GET', '/api/v1/nowhere', 401],
      ['GET', '/api/v1/healthz', 200],
    ] as const) {
      expect([method, target, status(await send(method, target))]).toEqual([method, target, expected]);
    }
    expect(reached).toEqual([]);
  });

  it('random targets reach nothing, and what they reach with the token is 401 without it', async () => {
    const routes = ['/hello', '/any', '/all/x', '/preflight', '/api/v1/plain', '/old/x', '/socket'];
    const seen = new Set<string>();
    for (const { method, target } of fc.sample(requestsTo(routes), { seed: 23, numRuns: 1_000 })) {
      const open = status(await send(method, target));
      expect([method, target, reached]).toEqual([method, target, []]);
      await send(method, target, bearer());
      const name = reached.find((each) => each !== 'middleware');
      reached = [];
      if (name === undefined) continue;
      seen.add(name);
      expect([method, target, open]).toEqual([method, target, method === 'OPTIONS' ? 404 : 401]);
    }
    expect([...seen]).toEqual(expect.arrayContaining(['all', 'any', 'hello']));
  });

  it('no upgrade opens', async () => {
    for (const target of ['/socket', '/%73ocket', '/socket/', 'http://localhost/socket', '/hello', '/all/x']) {
      expect([target, status(await rawUpgrade(server.url, target))]).toEqual([target, 401]);
    }
    expect(await rawUpgrade(server.url, '/nowhere')).toBe('');
    expect(reached).toEqual([]);
  });
});

describe('a plain handler', () => {
  it('answers what h3 makes of its value, with the app, after middleware, and with the CORS headers of the guard', async () => {
    const answer = await rawRequest(server.url, {
      path: '/hello',
      headers: { ...bearer(), origin: 'http://localhost:5173' },
    });
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { hello: server.app.serverId }]);
    expect(answer.headers).toMatchObject({
      'x-middleware': 'yes',
      'access-control-allow-origin': 'http://localhost:5173',
    });
    expect(reached).toEqual(['middleware', 'hello']);
    expect(status(await send('GET', '/api/v1/plain', bearer()))).toBe(200);
  });

  it('follows the rules of the router: a slash at the end, 405 for another method and for HEAD', async () => {
    expect(status(await send('GET', '/hello/', bearer()))).toBe(200);
    expect(status(await send('HEAD', '/hello', bearer()))).toBe(405);
    expect(status(await send('POST', '/hello', bearer()))).toBe(405);
    reached = [];
    for (const target of ['/any', '/all/x/y', '/all/a%2Fb']) await send('PUT', target, bearer());
    await send('OPTIONS', '/preflight', bearer());
    expect(reached.filter((name) => name !== 'middleware')).toEqual(['any', 'all', 'all', 'options']);
  });

  it('finds the body unread', async () => {
    const body = JSON.stringify({ a: 1 });
    const headers = { 'content-type': 'application/json' };
    expect(await (await server.fetch('/body', { method: 'POST', headers, body })).json()).toEqual({ got: { a: 1 } });
  });

  it('does not see the token, and sees a target in absolute form in origin form', async () => {
    const seen = z
      .object({ all: z.array(z.string()), raw: z.array(z.string()) })
      .parse(await (await server.fetch('/headers')).json());
    expect(seen.all).toContain('host');
    expect(seen.all).not.toContain('authorization');
    expect(seen.raw.join()).not.toContain(server.token);
    for (const target of ['/url?a=1', 'http://localhost/url?a=1']) {
      expect(await send('GET', target, bearer())).toContain('{"path":"/url?a=1","url":"/url?a=1"}');
    }
  });

  it('does not see the token of a client that sends it although none is needed', async () => {
    const unguarded = await startServer({ bypassAuth: true, plain });
    try {
      const response = await fetch(`${unguarded.url}/headers`, { headers: bearer() });
      expect(response.status).toBe(200);
      expect((await response.text()).toLowerCase()).not.toContain('authorization');
      const socket = new WebSocket(`${unguarded.url.replace('http', 'ws')}/socket`, { headers: bearer() });
      const [message] = await once(socket, 'message');
      expect(String(message)).toBe('token removed');
      socket.terminate();
    } finally {
      await unguarded.close();
    }
  });

  it('fails in the shape of Nitro, or in our envelope with an error of the catalogue', async () => {
    expect(status(await send('GET', '/teapot', bearer()))).toBe(418);
    expect(lines.join()).not.toContain('stout');
    expect(await (await server.fetch('/refused')).json()).toMatchObject({ code: 40401, msg: 'no such session' });
    expect(status(await send('GET', '/broken', bearer()))).toBe(500);
    expect(lines.find((line) => line.includes('unhandled error'))).toContain('a secret');
  });

  it('has a line in the access log', async () => {
    await send('GET', '/hello', bearer());
    await eventually(() => expect(lines.filter((line) => line.includes('"url":"/hello"'))).toHaveLength(1));
  });
});

describe('an endpoint', () => {
  it('runs after middleware, which may answer for it or read its body first', async () => {
    expect(await (await server.fetch('/api/v1/stopped')).text()).toBe('stopped');
    expect(reached).toEqual(['middleware']);
    const read = { 'x-read': 'yes', 'content-type': 'application/json' };
    const post = async (name: string) =>
      (await server.fetch('/api/v1/echo', { method: 'POST', headers: read, body: JSON.stringify({ name }) })).json();
    expect(await post('n')).toMatchObject({ data: { name: 'n' } });
    expect(await post('n'.repeat(100))).toMatchObject({ msg: 'Request body is too large' });
  });

  it('is reached by no other way than the table', async () => {
    expect(await (await server.fetch('/mistaken', { method: 'POST', body: '{}' })).json()).toMatchObject({
      code: 40400,
      msg: 'Route POST:/mistaken not found',
    });
  });

  it('ends a request whose client has disconnected', async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const head = `POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\n`;
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{`);
    await eventually(() => expect(reached).toEqual(['middleware']));
    const event = lastEvent;
    socket.destroy();
    await eventually(() => expect(event?.handled).toBe(true));
    expect(reached).toEqual(['middleware']);
  });

  it('keeps its own rules: no slash at the end, 404 for an unknown method', async () => {
    for (const [method, target] of [
      ['GET', '/api/v1/meta/'],
      ['POST', '/api/v1/meta'],
      ['OPTIONS', '/api/v1/meta'],
    ] as const) {
      const answer = await send(method, target, bearer());
      expect([method, target, status(answer)]).toEqual([method, target, 404]);
      expect(answer).toContain(`Route ${method}:${target} not found`);
    }
  });
});

it('a request of a client without an address, such as one that has disconnected, needs the token', async () => {
  const listener = toNodeListener(createNitroApp({ ...host(), clientAddress: () => undefined }, { plain, middleware }));
  const http = createServer((request, response) => listener(request, response));
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const { port } = z.object({ port: z.number() }).parse(http.address());
  expect((await fetch(`http://127.0.0.1:${port}/hello`)).status).toBe(401);
  expect(reached).toEqual([]);
  http.close();
});

it('every request is 503 if the app could not start, without the reason', async () => {
  const app = () => Promise.reject(new Error('a secret'));
  const http = createServer(toNodeListener(createNitroApp({ ...host(), app }, { plain, middleware })));
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const { port } = z.object({ port: z.number() }).parse(http.address());
  const answer = await fetch(`http://127.0.0.1:${port}/hello`);
  expect([answer.status, await answer.text()]).toEqual([503, expect.not.stringContaining('a secret')]);
  expect(reached).toEqual([]);
  http.close();
});

it('calls within the process pass without a token', async () => {
  expect(await (await server.fetch('/local')).json()).toEqual([
    expect.objectContaining({ code: 0, data: expect.objectContaining({ server_id: server.app.serverId }) }),
    expect.objectContaining({ code: 0, data: { name: 'n' } }),
    expect.objectContaining({ msg: 'Request body is too large' }),
    expect.objectContaining({ msg: 'Body is not a valid form: a call within the process cannot send one' }),
    'Not found',
    expect.objectContaining({ code: 40400 }),
  ]);
});

describe('a WebSocket handler', () => {
  it('gets sockets of its path with a token, whose subprotocol is echoed', async () => {
    const carrier = `service-code.bearer.${server.token}`;
    const socket = new WebSocket(server.url.replace('http', 'ws') + '/socket', ['chat', carrier]);
    const received: string[] = [];
    socket.on('message', (data) => received.push(data.toString()));
    socket.on('open', () => socket.send('x'));
    await eventually(() => expect(received).toEqual(['token removed', 'echo x']));
    expect(socket.protocol).toBe(carrier);
    socket.terminate();
    const byHeader = new WebSocket(server.url.replace('http', 'ws') + '/socket', { headers: bearer() });
    byHeader.on('message', (data) => received.push(data.toString()));
    await eventually(() => expect(received.at(-1)).toBe('token removed'));
    byHeader.terminate();
  });

  it('is not on paths of other handlers, whose upgrades are closed', async () => {
    for (const target of ['/hello', '/all/x']) expect(await rawUpgrade(server.url, target, bearer())).toBe('');
    expect(await rawUpgrade(server.url, '/socket', { ...bearer(), Origin: 'https://evil.test' })).toMatch(
      /^HTTP\/1\.1 403/,
    );
  });
});
