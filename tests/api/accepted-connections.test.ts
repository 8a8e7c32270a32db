/** How connections are served that another part of the process has accepted: bytes, ends, limits, replies with a follow-up. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable, type Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createEventStream, defineEventHandler, defineWebSocketHandler, readRawBody } from 'h3';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import * as z from 'zod';
import endpoints from '#endpoints';
import { appOptions } from '#server/app/options.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { createLogger } from '#server/logging/log.ts';
import { defineEndpoint, defineRawEndpoint } from '#utils/endpoint.ts';
import type { Endpoint } from '#utils/endpoint-definition.ts';
import { eventually, until } from '#support/patience.ts';
import { startServer, type TestServer, type TestServerOptions } from '#support/server.ts';
import { answerOf, exchange, openConnection, PUBLIC_HOST, tunnelRequest } from '#support/tunnel-connections.ts';

const { httpLimits } = appOptions({ home: '/', log: createLogger('silent') });

/** A credential that is known before the server starts. */
const PASSWORD = 'open4321';

/** Events of the endpoints, in order. */
let seen: string[] = [];
beforeEach(() => (seen = []));

let hold: (() => void) | undefined;
const data = z.object({ ok: z.literal(true) });
const BLOCK = Buffer.alloc(1024 * 1024, 7);
const BLOCKS = 100;

/** Blocks that the endpoint with many bytes was asked for. */
let produced = 0;
function* blocks(): Generator<Buffer> {
  for (produced = 0; produced < BLOCKS; produced++) yield BLOCK;
}

const own: Record<string, Endpoint> = {
  'get /api/v1/count': defineEndpoint({
    summary: 'Count',
    data,
    handler() {
      seen.push('count');
      return { ok: true as const };
    },
  }),
  'get /api/v1/many': defineRawEndpoint({
    summary: 'Many bytes',
    raw: { contentType: 'application/octet-stream' },
    handler() {
      const headers = { 'content-length': BLOCKS * BLOCK.length };
      return { status: 200, headers, body: Readable.from(blocks(), { objectMode: false }) };
    },
  }),
  'get /api/v1/waits': defineEndpoint({
    summary: 'Wait for the client',
    data,
    async handler({ signal }) {
      seen.push('waits');
      await once(signal, 'abort');
      seen.push('aborted');
      throw signal.reason;
    },
  }),
  'post /api/v1/after': defineEndpoint({
    summary: 'Reply, then work',
    data,
    errors: ['session.not_found'],
    body: z.object({ fails: z.enum(['handler', 'work']).optional() }),
    handler({ body, afterReply }) {
      afterReply(async () => {
        seen.push(body.fails === 'handler' ? 'work of a failed request' : 'work');
        await new Promise<void>((resolve) => (hold = resolve));
        if (body.fails === 'work') throw new Error('the work is broken');
        seen.push('worked');
      });
      if (body.fails === 'handler') throw new ServiceError('session.not_found', 'none');
      return { ok: true as const };
    },
  }),
};

const options: TestServerOptions = {
  env: () => ({ ...process.env, SERVICE_CODE_PASSWORD: PASSWORD }),
  mayStall: 'bodies of many MiB',
  endpoints: [
    ...endpoints,
    ...Object.entries(own).map(([name, endpoint]) => {
      const [method = '', route = ''] = name.split(' ');
      return { method, route, load: async () => ({ default: endpoint }) };
    }),
  ],
  plain: [
    {
      route: '/digest',
      method: 'post',
      handler: defineEventHandler(async (event) => {
        const body = (await readRawBody(event, false)) ?? Buffer.alloc(0);
        return `${body.length} ${createHash('sha256').update(body).digest('hex')}`;
      }),
    },
    {
      route: '/keeps',
      handler: defineEventHandler((event) => {
        event.node.res.setHeader('connection', 'keep-alive');
        return 'kept';
      }),
    },
    {
      route: '/events',
      handler: defineEventHandler(async (event) => {
        const stream = createEventStream(event);
        void stream.push('one');
        stream.onClosed(() => void seen.push('closed'));
        return stream.send();
      }),
    },
    {
      route: '/echo',
      handler: defineWebSocketHandler({ message: (peer, message) => void peer.send(message.uint8Array()) }),
    },
  ],
};

let server: TestServer;
beforeAll(async () => {
  server = await startServer(options);
});
afterAll(() => server.close());

const head = (path: string, { method = 'GET', more = '', connection = 'close' } = {}) =>
  `${method} ${path} HTTP/1.1\r\nhost: ${PUBLIC_HOST}\r\nauthorization: Bearer ${PASSWORD}\r\n` +
  `connection: ${connection}\r\n${more}\r\n`;
const statuses = (answer: string) => [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

describe('one request', () => {
  const first = head('/api/v1/count', { connection: 'keep-alive' });
  const UPGRADE =
    'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

  it.each([
    ['of the same kind', first],
    ['after "connection: close"', head('/api/v1/count')],
    ['with a body', head('/digest', { method: 'POST', more: 'content-length: 3\r\n' }) + 'abc'],
    [
      'that is an upgrade',
      head('/api/v1/ws', { connection: 'upgrade', more: UPGRADE.slice('connection: upgrade\r\n'.length) }),
    ],
    ['of another method', `CONNECT h:1 HTTP/1.1\r\nhost: h\r\n\r\n`],
    ['that is malformed', 'x\r\n\r\n'],
  ])('is served: a second one %s reaches no handler, and ends the connection', async (_name, second) => {
    // The reply to the first one may be lost with the connection.
    const together = await exchange(server.app, first + second);
    expect(statuses(together).length).toBeLessThanOrEqual(1);
    await eventually(() => expect(seen).toEqual(['count']));
    const relay = openConnection(server.app);
    const answer = answerOf(relay);
    relay.write(first);
    await once(relay, 'data');
    relay.write(second);
    expect(statuses(await answer)).toEqual([200]);
    expect(seen).toEqual(['count', 'count']);
    expect(server.app.connections.list()).toEqual([]);
  });

  it('ends the connection, also if a handler wants to keep it', async () => {
    for (const path of ['/keeps', '/api/v1/count', '/api/v1/none', '/none']) {
      expect(statuses(await exchange(server.app, head(path, { connection: 'keep-alive' })))).toHaveLength(1);
    }
  });

  it('with an unknown expectation is the only one of its connection too', async () => {
    const expecting = head('/api/v1/count', { more: 'expect: nothing\r\n', connection: 'keep-alive' });
    expect(await exchange(server.app, expecting + first)).toMatch(/^HTTP\/1\.1 417 /);
    const relay = openConnection(server.app);
    const answer = answerOf(relay);
    relay.write(expecting);
    await once(relay, 'data');
    relay.write(first);
    expect(statuses(await answer)).toEqual([417]);
    expect(seen).toEqual([]);
  });

  it('follows no bytes of the first one that are read differently', async () => {
    const smuggled = head('/api/v1/count');
    const both = head('/digest', {
      method: 'POST',
      more: `content-length: ${smuggled.length + 5}\r\ntransfer-encoding: chunked\r\n`,
    });
    expect(statuses(await exchange(server.app, `${both}0\r\n\r\n${smuggled}`))).toEqual([400]);
    expect(seen).toEqual([]);
  });
});

describe('a request head', () => {
  it.each([
    ['that is malformed', 'GET\r\n\r\n', 400],
    ['of more than 16 KiB', head('/', { more: `x: ${'a'.repeat(20_000)}\r\n` }), 431],
    ['of 1 MB', head('/', { more: `x: ${'a'.repeat(1_000_000)}\r\n` }), 431],
  ])('%s is answered with a bare status', async (_name, bytes, status) => {
    const answer = await exchange(server.app, bytes);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [A-Za-z ]+\\r\\nConnection: close\\r\\n\\r\\n$`));
  });

  it('has the time limit of the server', async () => {
    const hasty = await startServer({ httpLimits: { ...httpLimits, headersMs: 50 } });
    const late = exchange(hasty.app, 'GET / HTTP/1.1\r\nhost:');
    expect(await late).toMatch(/^HTTP\/1\.1 408 /);
    // The limit ends with the head.
    const waiting = openConnection(hasty.app);
    waiting.write(head('/api/v1/healthz', { method: 'POST', more: 'content-length: 2\r\n' }));
    expect(statuses(await answerOf(waiting))).toEqual([401]);
    await hasty.close();
  });
});

describe('bytes', () => {
  const digest = (bytes: Buffer) => `${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`;
  const request = (method: string, path: string, body?: Buffer) =>
    tunnelRequest(server.app, { method, path, token: server.token, ...(body ? { body } : {}) });

  it('of a large upload and a large reply arrive unchanged', async () => {
    const body = randomBytes(20 * 1024 * 1024);
    expect((await request('POST', '/digest', body)).bytes.toString()).toBe(digest(body));
    expect((await request('GET', '/api/v1/many')).bytes).toHaveLength(BLOCKS * BLOCK.length);
  });

  it('are read from the source only as fast as the client reads', async () => {
    const relay = openConnection(server.app);
    relay.write(head('/api/v1/many'));
    await once(relay, 'readable');
    // Far more turns than a source without a reader's pauses needs for all blocks.
    for (let turn = 0; turn < 20 * BLOCKS; turn++) await nextTurn();
    expect(produced).toBeLessThan(10);
    relay.resume();
    await until(() => produced === BLOCKS);
    relay.destroy();
  });

  it('of events are sent as they are produced, until the client disconnects', async () => {
    const relay = openConnection(server.app);
    let text = '';
    relay.on('data', (chunk: Buffer) => (text += chunk.toString()));
    relay.write(head('/events'));
    await until(() => text.includes('data: one'));
    relay.destroy();
    await eventually(() => expect(seen).toEqual(['closed']));
  });

  it('a disconnected client aborts its request', async () => {
    const relay = openConnection(server.app);
    relay.write(head('/api/v1/waits'));
    await eventually(() => expect(seen).toEqual(['waits']));
    relay.destroy();
    await eventually(() => expect(seen).toEqual(['waits', 'aborted']));
  });
});

describe('a WebSocket', () => {
  const LIMIT = 16 * 1024 * 1024;
  async function socket(path: string): Promise<WebSocket> {
    const opened = new WebSocket(`ws://${PUBLIC_HOST}${path}`, {
      headers: { authorization: `Bearer ${server.token}` },
      createConnection: (): Duplex => openConnection(server.app),
      perMessageDeflate: false,
    });
    await once(opened, 'open');
    return opened;
  }

  it.each([0, 1, 262_144, 262_145, LIMIT])('sends and receives a message of %i bytes', async (size) => {
    const client = await socket('/echo');
    const bytes = randomBytes(size);
    const received = once(client, 'message');
    client.send(bytes);
    const [message] = z.tuple([z.instanceof(Buffer), z.boolean()]).parse(await received);
    expect(message.equals(bytes)).toBe(true);
    const closed = once(client, 'close');
    client.close(4001, 'done');
    expect((await closed)[0]).toBe(4001);
  });

  it.each(['/echo', '/api/v1/ws'])('%s closes with 1009 above the limit', async (path) => {
    const client = await socket(path);
    const closed = once(client, 'close');
    client.send(Buffer.alloc(LIMIT + 1));
    expect((await closed)[0]).toBe(1009);
  });

  it('of a disconnected client is closed', async () => {
    const client = await socket('/api/v1/ws');
    await until(() => server.app.connections.list().length === 1);
    client.terminate();
    await until(() => server.app.connections.list().length === 0);
  });
});

describe('work after a reply', () => {
  const post = (body: object, to = server) =>
    tunnelRequest(to.app, {
      method: 'POST',
      path: '/api/v1/after',
      token: to.token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      facts: {
        flushed: async () => {
          seen.push('flushing');
          await nextTurn();
          seen.push('flushed');
        },
      },
    });
  afterEach(() => hold?.());

  it('starts when the bytes have left the process', async () => {
    const answer = await post({});
    seen.push('answered');
    expect(answer).toMatchObject({ status: 200, code: 0 });
    await eventually(() => expect(seen).toContain('work'));
    expect(seen.filter((event) => event !== 'answered')).toEqual(['flushing', 'flushed', 'work']);
  });

  it('at the port: starts when the reply was sent, or its client has disconnected', async () => {
    expect((await server.api('POST', '/after', {})).code).toBe(0);
    await eventually(() => expect(seen).toEqual(['work']));
  });

  it('starts after 2 s if the bytes do not leave', async () => {
    const relay = openConnection(server.app, { flushed: () => new Promise(() => undefined) });
    const body = '{}';
    const more = `content-type: application/json\r\ncontent-length: ${body.length}\r\n`;
    relay.write(head('/api/v1/after', { method: 'POST', more }) + body);
    const startedAt = performance.now();
    await eventually(() => expect(seen).toEqual(['work']));
    expect(performance.now() - startedAt).toBeGreaterThan(1900);
    relay.destroy();
  });

  it('does not start if the request fails', async () => {
    expect(await post({ fails: 'handler' })).toMatchObject({ code: 40401 });
    await post({});
    await eventually(() => expect(seen).toContain('work'));
    expect(seen).not.toContain('work of a failed request');
  });

  it('is waited for by the stop of the server, which continues if it fails', async () => {
    const busy = await startServer(options);
    await post({ fails: 'work' }, busy);
    await eventually(() => expect(seen).toContain('work'));
    const stopped = busy.close().then(() => seen.push('stopped'));
    // A whole life of a server without such work fits into the wait.
    const idle = await startServer(options);
    await idle.close();
    seen.push('other one stopped');
    hold?.();
    await stopped;
    expect(seen.slice(-2)).toEqual(['other one stopped', 'stopped']);
  });
});
