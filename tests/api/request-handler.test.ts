/** Envelopes and checks in order, over a real server with additional endpoints of the test. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import endpoints from '#endpoints';
import { ServiceError } from '#server/errors/service-error.ts';
import { createLogger } from '#server/logging/log.ts';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';
import { until } from '#support/patience.ts';
import { rawRequest } from '#support/raw-request.ts';
import type { RawRequest } from '#support/raw-request.ts';
import { startServer } from '#support/server.ts';
import type { TestServer } from '#support/server.ts';
import type { Endpoint } from '#utils/endpoint-definition.ts';

const echo = { summary: 'Echo', data: z.unknown() } as const;
const body = z.object({ name: z.string().min(1), size: z.number().max(3).optional() });

const ownEndpoints: Record<string, Endpoint> = {
  'post /api/v1/echo': defineEndpoint({ ...echo, body, bodyLimit: 2000, handler: ({ body }) => body }),
  'delete /api/v1/echo': defineEndpoint({ ...echo, handler: () => null }),
  'post /api/v1/optional': defineEndpoint({
    ...echo,
    body: body.partial(),
    bodyRequired: false,
    handler: ({ body }) => body,
  }),
  'post /api/v1/ignored': defineEndpoint({ ...echo, handler: () => null }),
  'get /api/v1/items/:item_id': defineEndpoint({
    ...echo,
    params: pathParams('item_id'),
    errors: ['session.not_found'],
    handler({ params }) {
      if (params.item_id === 'missing') throw new ServiceError('session.not_found', 'no such item');
      if (params.item_id === 'broken') throw new Error('');
      if (params.item_id === 'undeclared') throw new ServiceError('prompt.not_found', 'not listed');
      return params;
    },
  }),
  'post /api/v1/items/:item_id/actions/act': defineEndpoint({
    ...echo,
    params: pathParams('item_id'),
    body,
    errors: ['session.not_found'],
    load({ params: { item_id: id } }) {
      if (id === 'missing') throw new ServiceError('session.not_found', 'no such item');
      return id.toUpperCase();
    },
    handler: ({ resource, body }) => ({ resource, ...body }),
  }),
  'get /api/v1/wrong': defineEndpoint({
    summary: 'Wrong',
    data: z.object({ a: z.string() }),
    handler: () => ({ a: 'x', b: 1 }),
  }),
};

let server: TestServer;
const lines: Record<string, unknown>[] = [];
beforeAll(async () => {
  const entries = Object.entries(ownEndpoints).map(([name, endpoint]) => {
    const [method = '', route = ''] = name.split(' ');
    return { method, route, load: () => Promise.resolve({ default: endpoint }) };
  });
  const log = createLogger('info', (line) => lines.push(JSON.parse(line)));
  server = await startServer({ log, endpoints: [...endpoints, ...entries] });
});
afterAll(() => server.close());

const raw = (request: RawRequest, authorization = `Bearer ${server.token}`) =>
  rawRequest(server.url, { ...request, headers: { authorization, ...request.headers } });
const json = { 'content-type': 'application/json' };
const post = (path: string, body?: string | Uint8Array, headers: Record<string, string> = json) =>
  raw({ method: 'POST', path: `/api/v1/${path}`, headers, ...(body === undefined ? {} : { body }) });

describe('envelope', () => {
  it('has its keys in order and echoes the request id', async () => {
    const id = '01hzzzzzzzzzzzzzzzzzzzzzzz';
    const answer = await raw({ path: '/api/v1/healthz', headers: { 'x-request-id': id } });
    expect(answer.text).toBe(`{"code":0,"msg":"success","data":{"ok":true},"request_id":"${id}"}`);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(answer.text.length),
    });
    expect(answer.headers).not.toHaveProperty('x-request-id');
    expect(answer.headers).not.toHaveProperty('cache-control');
  });

  it.each(['short', '01HZZZZZZZZZZZZZZZZZZZZZZI'])('replaces the request id %s', async (id) => {
    const answer = await raw({ path: '/api/v1/healthz', headers: { 'x-request-id': id } });
    expect(JSON.parse(answer.text).request_id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
  });

  it('uses the first of a repeated request id', async () => {
    const ids = ['01HZZZZZZZZZZZZZZZZZZZZZZA', '01HZZZZZZZZZZZZZZZZZZZZZZB'];
    const answer = await raw({ path: '/api/v1/healthz', headers: { 'x-request-id': ids } });
    expect(JSON.parse(answer.text).request_id).toBe(ids[0]);
  });

  it('reports failures without a stack', async () => {
    const answer = await raw({ path: '/api/v1/items/broken' });
    expect(answer.status).toBe(200);
    expect(answer.text).toMatch(/^\{"code":50001,"msg":"internal error","data":null,"request_id":"\w{26}"\}$/);
  });

  it('reports errors that a route file does not declare', async () => {
    expect(await server.api('GET', '/items/missing')).toMatchObject({ code: 40401, data: null });
    expect(await server.api('GET', '/items/undeclared')).toMatchObject({ code: 50001 });
    expect(await server.api('GET', '/wrong')).toMatchObject({ code: 50001 });
  });
});

describe('the log', () => {
  const REQUEST_ID = '01HZZZZZZZZZZZZZZZZZZZZZZC';
  const send = async (path: string) => {
    lines.length = 0;
    await raw({ path, headers: { 'x-request-id': REQUEST_ID } });
    return until(() => lines.find(({ msg }) => msg === 'request completed'), 'the line of the request');
  };

  it('has a line for each answered request, with the code of its envelope', async () => {
    expect(await send('/api/v1/items/missing?q=1')).toMatchObject({
      level: 30,
      code: 40401,
      reqId: REQUEST_ID,
      req: {
        method: 'GET',
        url: '/api/v1/items/missing?q=1',
        host: new URL(server.url).host,
        remoteAddress: '127.0.0.1',
        remotePort: expect.any(Number),
      },
      responseTime: expect.any(Number),
    });
    expect(lines).toHaveLength(1);
    expect(await send('/api/v1/healthz')).toMatchObject({ code: 0 });
    expect(await send('/')).not.toHaveProperty('code');
  });

  it('contains unexpected errors, with the id of the request', async () => {
    await send('/api/v1/items/broken');
    expect(lines).toMatchObject([
      { level: 50, request_id: REQUEST_ID, err: expect.anything() },
      { level: 30, code: 50001 },
    ]);
    await send('/api/v1/items/missing');
    expect(lines).toMatchObject([{ level: 30 }]);
  });

  it('has no line for a request whose client disconnected before its body was complete', async () => {
    lines.length = 0;
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n{"na',
    );
    await once(socket, 'data');
    socket.destroy();
    await once(socket, 'close');
    // Later requests are answered and logged after the abandoned one.
    await raw({ path: '/api/v1/healthz' });
    await until(
      () => lines.some(({ msg, code }) => msg === 'request completed' && code === 0),
      'the line of the later one',
    );
    expect(lines).toHaveLength(1);
  });
});

describe('order of checks', () => {
  it('answers 401 before 404 and before the body', async () => {
    for (const path of ['/api/v1/nope', '/api/v1/%6deta', '/api/nope', '/openapi.json', '/asyncapi.json']) {
      const answer = await raw({ path }, 'Bearer wrong');
      expect([path, answer.status, JSON.parse(answer.text)]).toMatchObject([
        path,
        401,
        { code: 40101, msg: 'Unauthorized', data: null },
      ]);
      expect(answer.headers).not.toHaveProperty('www-authenticate');
    }
    expect((await raw({ method: 'POST', path: '/api/v1/echo', body: '{' }, 'bearer x')).status).toBe(401);
  });

  it('needs no token only for GET healthz', async () => {
    const status = async (method: string) => (await raw({ method, path: '/api/v1/healthz' }, 'none')).status;
    expect([await status('GET'), await status('HEAD'), await status('POST')]).toEqual([200, 401, 401]);
  });

  it('answers a malformed URL with 400', async () => {
    const answer = await raw({ path: '/api/v1/%zz' });
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([400, 40001]);
  });

  it('resolves the resource of an action between "is an object" and its fields', async () => {
    const code = async (path: string, body: string) => JSON.parse((await post(path, body)).text).msg;
    expect(await code('items/missing:nope', '{')).toBe('unsupported action: missing:nope');
    expect(await code('items/missing:act', '[]')).toBe('Invalid input: expected object, received array');
    expect(await code('items/missing:act', '{}')).toBe('no such item');
    expect(await code('items/x:act', '{}')).toBe('name: Invalid input: expected string, received undefined');
    expect(JSON.parse((await post('items/a%2Fb%3Aact', '{"name":"n"}')).text).data).toEqual({
      resource: 'A/B',
      name: 'n',
    });
  });
});

describe('bodies', () => {
  const failures: [string, string | undefined, Record<string, string>, string, string][] = [
    ['none', undefined, {}, '', 'Invalid input: expected object, received undefined'],
    ['empty text', '', { 'content-type': 'text/html' }, '', 'Invalid input: expected object, received undefined'],
    ['null', 'null', json, '', 'Invalid input: expected object, received null'],
    ['array', '[]', json, '', 'Invalid input: expected object, received array'],
    ['malformed', '{"name":', json, '', 'Body is not valid JSON'],
    ['__proto__', '{"name":"n","a":[{"__proto__":1}]}', json, '', 'Body is not valid JSON'],
    ['escaped __proto__', '{"name":"n","_\\u005fproto__":1}', json, '', 'Body is not valid JSON'],
    ['constructor', '{"constructor":{"prototype":1}}', json, '', 'Body is not valid JSON'],
    [
      'other type',
      '{"name":"n"}',
      { 'content-type': 'application/x-www-form-urlencoded' },
      '',
      'Unsupported Media Type',
    ],
    ['no type', '{"name":"n"}', {}, '', 'Unsupported Media Type'],
    [
      'plain text',
      '{"name":"n"}',
      { 'content-type': 'text/plain' },
      '',
      'Invalid input: expected object, received string',
    ],
    ['too large', `{"name":"${'n'.repeat(2000)}"}`, json, '', 'Request body is too large'],
    ['field', '{"name":""}', json, 'name', 'Too small: expected string to have >=1 characters'],
  ];
  it.each(failures)('%s', async (_case, body, headers, path, message) => {
    const answer = await post('echo', body, headers);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.text)).toMatchObject({
      code: 40001,
      msg: path ? `${path}: ${message}` : message,
      details: [{ path, message }],
    });
    const unreadable = ['Body is not valid JSON', 'Request body is too large'].includes(message);
    expect(answer.headers.connection).toBe(unreadable ? 'close' : 'keep-alive');
  });

  it('lists every field in schema order', async () => {
    const { details } = await server.api('POST', '/echo', { size: 9, unknown: true });
    expect(details).toEqual([
      { path: 'name', message: 'Invalid input: expected string, received undefined' },
      { path: 'size', message: 'Too big: expected number to be <=3' },
    ]);
  });

  it('accepts parameters and any case of the type, drops unknown fields', async () => {
    const answer = await post('echo', '{"name":"n","other":1}', { 'content-type': 'Application/JSON; charset=utf-8' });
    expect(JSON.parse(answer.text).data).toEqual({ name: 'n' });
  });

  it('treats an absent optional body as {}, but not null', async () => {
    expect(JSON.parse((await post('optional', undefined, {})).text).data).toEqual({});
    expect(JSON.parse((await post('optional', 'null')).text).msg).toBe('Invalid input: expected object, received null');
  });

  it('ignores bodies of endpoints without a body', async () => {
    expect(JSON.parse((await post('ignored', '{')).text).code).toBe(0);
    for (const [method, path] of [
      ['GET', 'items/x'],
      ['DELETE', 'echo'],
    ] as const) {
      const answer = await raw({ method, path: `/api/v1/${path}`, headers: json, body: '{' });
      expect(JSON.parse(answer.text).code).toBe(0);
    }
  });

  it('accepts a body of exactly the limit, with or without a length, and none that is a byte longer', async () => {
    const body = (bytes: number) => `{"name":"${'n'.repeat(bytes - '{"name":""}'.length)}"}`;
    const announced = async (bytes: number) => JSON.parse((await post('echo', body(bytes))).text).msg;
    const chunked = async (bytes: number) => {
      const stream = new Blob([body(bytes)]).stream();
      const init = { method: 'POST', headers: json, body: stream, duplex: 'half' as const };
      return (await server.fetch('/api/v1/echo', init)).json();
    };
    expect(await announced(2000)).toBe('success');
    expect(await announced(2001)).toBe('Request body is too large');
    expect(await chunked(2000)).toMatchObject({ msg: 'success' });
    expect(await chunked(2001)).toMatchObject({ msg: 'Request body is too large' });
  });

  it('joins chunks, even within a character', async () => {
    const text = Buffer.from('{"name":"中"}');
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.write(
      `POST /api/v1/echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${text.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    await until(() => answer.includes('100 Continue'), 'the request is read');
    socket.setNoDelay().write(text.subarray(0, 10));
    await setImmediate();
    socket.write(text.subarray(10));
    await until(() => answer.includes('"data":{"name":"中"}'), 'the answer');
    socket.destroy();
  });

  it.each([
    ['as a text', '{"name":"__proto__ constructor prototype \\\\u005f"}'],
    ['a constructor that reaches none', '{"name":"n","constructor":{"a":{"prototype":1}},"b":{"constructor":null}}'],
    ['a prototype of something else', '{"name":"n","other":[null,{"prototype":{"constructor":"\\u0041"}}]}'],
  ])('accepts names of prototype keys that are harmless: %s', async (_what, text) => {
    expect(JSON.parse((await post('echo', text)).text).code).toBe(0);
  });

  it.each([
    '{"name":"n","a":{"b":[1,{"constructor":{"prototype":null}}]}}',
    '[[{"__proto__":null}]]',
    '{"name":"n","constructor":{"constructor":{"prototype":1}}}',
    '{"name":"n","\\u0063onstructor":{"prototype":1}}',
  ])('refuses keys that reach a prototype, at any depth: %s', async (text) => {
    expect(JSON.parse((await post('echo', text)).text).msg).toBe('Body is not valid JSON');
  });

  it('refuses a body that is nested too deeply', async () => {
    const answer = await post('echo', `{"name":${'['.repeat(1000)}${']'.repeat(1000)}}`.slice(0, 2000));
    expect(JSON.parse(answer.text).msg).toBe('Body is nested too deeply');
    expect(answer.headers.connection).toBe('close');
  });

  it('answers a body far beyond the limit while it is being sent', async () => {
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    const response = await server.fetch('/api/v1/echo', {
      method: 'POST',
      headers: json,
      body: stream,
      duplex: 'half',
    });
    expect(await response.json()).toMatchObject({ code: 40001, msg: 'Request body is too large' });
  });
});

describe('routes', () => {
  it.each([
    ['GET', '/api/v1/nope'],
    ['POST', '/api/v1/meta'],
    ['GET', '/api/v1/META'],
    ['GET', '/api/v1/meta/'],
    ['GET', '/api/v1//meta'],
    ['GET', '/api'],
    ['GET', '/documentation'],
    ['POST', '/anything'],
    ['OPTIONS', '/api/v1/meta'],
    ['GET', '/api/v1/ws'],
    ['POST', '/api/v1/items/x/actions/act'],
  ])('%s %s is unknown', async (method, path) => {
    const answer = await raw({ method, path: `${path}?q=1` });
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text)).toMatchObject({
      code: 40400,
      msg: `Route ${method}:${path} not found`,
      data: null,
    });
  });

  it('decodes ids a single time and validates an empty one', async () => {
    expect((await server.api('GET', '/items/a%2Fb%3Fc%253A')).data).toEqual({ item_id: 'a/b?c%3A' });
    expect(await server.api('GET', '/items/')).toMatchObject({
      code: 40001,
      details: [{ path: 'item_id', message: 'Too small: expected string to have >=1 characters' }],
    });
  });

  it('answers HEAD like GET, without the body', async () => {
    const [get, head] = [await raw({ path: '/api/v1/meta' }), await raw({ method: 'HEAD', path: '/api/v1/meta' })];
    expect(head.text).toBe('');
    expect(head.headers['content-length']).toBe(get.headers['content-length']);
  });
});

describe('host and origin', () => {
  it.each(['/', '/api/v1/healthz'])('refuses a foreign host on %s', async (path) => {
    const answer = await raw({ path, headers: { host: 'evil.test' } });
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([403, 40301]);
  });

  it('allows any address, refuses a missing host', async () => {
    expect((await raw({ path: '/api/v1/meta', headers: { host: '10.1.1.1:99' } })).status).toBe(200);
    const answer = await raw({ path: '/api/v1/meta', setHost: false });
    expect(JSON.parse(answer.text).msg).toContain('Invalid Host header: <missing>;');
  });

  it('sends CORS headers to allowed origins only', async () => {
    const origin = 'http://localhost:5173';
    const allowed = await raw({ path: '/api/v1/nope', headers: { origin } });
    expect(allowed.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
      vary: 'Origin',
    });
    const foreign = await raw({ path: '/api/v1/meta', headers: { origin: 'https://evil.test' } });
    expect(foreign.status).toBe(200);
    expect(foreign.headers).not.toHaveProperty('access-control-allow-origin');
    for (const from of [origin, 'https://evil.test']) {
      const preflight = await raw({ method: 'OPTIONS', path: '/api/v1/meta', headers: { origin: from } }, '');
      expect([preflight.status, preflight.text]).toEqual([204, '']);
      expect('access-control-allow-origin' in preflight.headers).toBe(from === origin);
    }
  });
});
