/** JSON bodies as they arrive at an HTTP server. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { createEvent } from 'h3';
import { describe, expect, it } from 'vitest';
import { listenDuringTest } from '#support/listen-during-test.ts';
import { until } from '#support/patience.ts';
import { readJsonBody, RequestAborted, UnreadableBody } from '#utils/http/body.ts';

const LIMITS = { maxBytes: 1000, idleMs: 60_000 };

interface Outcome {
  value?: unknown;
  error?: unknown;
}

/** A server that reads each body as JSON after `ready`. */
async function bodyServer(ready: (request: IncomingMessage) => unknown = () => undefined, limits = LIMITS) {
  const outcomes: Outcome[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      await ready(request);
      const read = readJsonBody(createEvent(request, response), limits);
      outcomes.push(await read.then((value) => ({ value })).catch((error: unknown) => ({ error })));
      response.end();
    })();
  });
  const port = await listenDuringTest(server);
  async function post(body: string | Uint8Array, type = 'application/json'): Promise<Outcome> {
    const before = outcomes.length;
    const headers = { 'content-type': type, connection: 'close' };
    await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers }).catch(() => undefined);
    return until(() => outcomes[before]);
  }
  return { port, outcomes, post };
}

const requestOf = (length: number, body: string) =>
  `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\ncontent-type: application/json\r\n\r\n${body}`;

describe('a JSON body', () => {
  it('is the value, whatever its key order and kinds', async () => {
    const { post } = await bodyServer();
    for (const value of [{ b: [null, 1, 'x', { a: true }], a: 'é' }, [], 'text', 0, null]) {
      expect(await post(JSON.stringify(value))).toEqual({ value });
    }
    expect(await post('')).toEqual({ value: undefined });
  });

  it.each([
    '{"__proto__":1}',
    '{"a":[1,null,{"b":{"__proto__":{}}}]}',
    '{"\\u005f_proto__":1}',
    '[{"constructor":{"prototype":{}}}]',
    '{"a":{"constructor":{"x":1,"prototype":1}}}',
  ])('that could change a prototype is refused: %s', async (body) => {
    const { post } = await bodyServer();
    const { error } = await post(body);
    expect(error).toBeInstanceOf(UnreadableBody);
    expect(error).toMatchObject({ message: expect.stringContaining('not valid JSON') });
  });

  it.each([
    '{"a":"__proto__","b":"constructor"}',
    '{"constructor":"prototype"}',
    '{"constructor":null,"prototype":{}}',
    '{"constructor":{"name":"prototype"}}',
    '{"constructor":[1]}',
    '["__proto__",null,{"prototype":"constructor"}]',
    '"__proto__"',
    '{"a":"\\u005f"}',
  ])('that only mentions those words is accepted: %s', async (body) => {
    const { post } = await bodyServer();
    expect(await post(body)).toEqual({ value: JSON.parse(body) });
  });

  it('is text where the type says so, and of no other type', async () => {
    const { post } = await bodyServer();
    expect(await post('{}', 'text/plain;charset=UTF-8')).toEqual({ value: '{}' });
    expect(await post('{}', 'Application/JSON ; charset=utf-8')).toEqual({ value: {} });
    expect(await post('{}', 'application/jsonp')).toMatchObject({ error: { name: 'validation.failed' } });
  });

  it('has at most the bytes of the limit', async () => {
    const { post } = await bodyServer();
    expect((await post(`"${'x'.repeat(998)}"`)).value).toHaveLength(998);
    const { error } = await post(`"${'x'.repeat(999)}"`);
    expect(error).toMatchObject({ name: 'UnreadableBody', message: expect.stringContaining('too large') });
  });

  it('is refused by its announced length before a byte of it has arrived', async () => {
    const { port, outcomes } = await bodyServer();
    const socket = connect(port, '127.0.0.1');
    socket.write(requestOf(1001, ''));
    expect(await until(() => outcomes[0])).toMatchObject({ error: { message: expect.stringContaining('too large') } });
    socket.destroy();
  });
});

describe('a body whose client has left', () => {
  const leave = async (port: number, sent: string) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(requestOf(2, sent));
    return socket;
  };

  it('is aborted while it is read', async () => {
    let arrived = false;
    const { port, outcomes } = await bodyServer(() => (arrived = true));
    const socket = await leave(port, '{');
    await until(() => arrived);
    socket.destroy();
    expect((await until(() => outcomes[0])).error).toBeInstanceOf(RequestAborted);
  });

  it.each(['{}', '{', ''])('before the reading began is aborted, also if %j has arrived', async (sent) => {
    let arrived = false;
    const closed = (request: IncomingMessage) => {
      arrived = true;
      request.on('error', () => undefined);
      return new Promise((resolve) => request.once('close', resolve));
    };
    const { port, outcomes } = await bodyServer(closed);
    const socket = await leave(port, sent);
    await until(() => arrived);
    socket.destroy();
    expect((await until(() => outcomes[0])).error).toBeInstanceOf(RequestAborted);
  });

  it('that sends nothing is closed', async () => {
    const { port, outcomes } = await bodyServer(undefined, { ...LIMITS, idleMs: 50 });
    const socket = connect(port, '127.0.0.1');
    socket.write(requestOf(2, '{'));
    await once(socket.resume(), 'close');
    expect((await until(() => outcomes[0])).error).toBeInstanceOf(RequestAborted);
  });
});
