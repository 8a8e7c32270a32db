/** Streamed answers over keep-alive connections. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { defineEndpoint, defineRawEndpoint } from '#utils/endpoint.ts';
import { streamed } from '#utils/http/reply.ts';
import type { Reply } from '#utils/http/reply.ts';
import { startServer } from '#support/server.ts';
import type { TestServer } from '#support/server.ts';
import type { Endpoint } from '#utils/endpoint-definition.ts';

const LENGTH = 10;
/** The answer to the test's next request. */
let answer: () => Reply;
let signal: AbortSignal | undefined;

const ownEndpoints: Record<string, Endpoint> = {
  '/api/v1/stream': defineRawEndpoint({
    summary: 'Stream',
    raw: { contentType: 'application/octet-stream' },
    handler: () => answer(),
  }),
  '/api/v1/waits': defineEndpoint({
    summary: 'Waits for its client to go',
    data: z.null(),
    async handler(input) {
      signal = input.signal;
      if (!signal.aborted) await once(signal, 'abort');
      return null;
    },
  }),
  '/api/v1/quick': defineEndpoint({
    summary: 'Answers at once',
    data: z.null(),
    handler(input) {
      signal = input.signal;
      return null;
    },
  }),
};

let server: TestServer;
let logged: unknown[];
beforeAll(async () => {
  const entries = Object.entries(ownEndpoints).map(([route, endpoint]) => {
    return { method: 'get', route, load: () => Promise.resolve({ default: endpoint }) };
  });
  server = await startServer({ endpoints: entries });
  const { log } = server.app;
  const { error } = log;
  log.error = (message, facts) => {
    logged.push(facts?.err);
    error(message, facts);
  };
});
beforeEach(() => {
  logged = [];
  signal = undefined;
});
afterAll(() => server.close());

const request = (path: string) =>
  `GET /api/v1/${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server.token}\r\n\r\n`;

function open() {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (data: Buffer) => (received += data.toString())).on('error', () => undefined);
  return { socket, received: () => received };
}

const bytes = (text: string) => Readable.from([Buffer.from(text)]);
const octets = (stream: Readable) => () => streamed(stream, LENGTH, { 'content-type': 'application/octet-stream' });

describe('a stream of a known length', () => {
  it('leaves the connection open when it is complete', async () => {
    answer = octets(bytes('0123456789'));
    const { socket, received } = open();
    socket.write(request('stream') + request('quick'));
    await expect.poll(received).toMatch(/\r\n\r\n0123456789HTTP\/1.1 200 OK/);
    socket.destroy();
    expect(logged).toEqual([]);
  });

  it('closes the connection if it ends short, so that no other answer is read as its rest', async () => {
    answer = octets(bytes('01234'));
    const { socket, received } = open();
    const closed = once(socket, 'close');
    socket.write(request('stream') + request('quick'));
    await closed;
    expect(received()).toMatch(/\r\n\r\n01234$/);
    expect(logged).toMatchObject([{ message: 'the body of an answer ended 5 bytes short of its 10' }]);
  });

  it('closes the connection if it fails', async () => {
    answer = octets(
      Readable.from(
        (async function* () {
          yield Buffer.from('0');
          throw new Error('the disk is gone');
        })(),
      ),
    );
    const { socket, received } = open();
    const closed = once(socket, 'close');
    socket.write(request('stream') + request('quick'));
    await closed;
    expect(received().match(/HTTP\/1.1/g) ?? []).toHaveLength(1);
    expect(logged).toMatchObject([{ message: 'the disk is gone' }]);
  });

  it('is cut if it is longer, like a file that grows while it is sent', async () => {
    answer = octets(Readable.from([Buffer.from('01234567'), Buffer.from('89abc'), Buffer.from('def')]));
    const { socket, received } = open();
    socket.write(request('stream') + request('quick'));
    await expect.poll(received).toMatch(/\r\n\r\n0123456789HTTP\/1.1 200 OK/);
    socket.destroy();
    expect(logged).toEqual([]);
  });

  it('is destroyed without an error when the client disconnects', async () => {
    const stream = new Readable({ read() {} });
    stream.push('01234');
    answer = octets(stream);
    const { socket, received } = open();
    socket.write(request('stream'));
    await expect.poll(received).toContain('01234');
    socket.destroy();
    await expect.poll(() => stream.destroyed).toBe(true);
    expect(logged).toEqual([]);
  });
});

describe('the signal of a handler', () => {
  it('is aborted when the client disconnects before the answer', async () => {
    const { socket } = open();
    socket.write(request('waits'));
    await expect.poll(() => signal).toBeDefined();
    expect(signal?.aborted).toBe(false);
    socket.destroy();
    await expect.poll(() => signal?.aborted).toBe(true);
    expect(logged).toEqual([]);
  });

  it('is not aborted after the answer was sent', async () => {
    const { socket, received } = open();
    socket.write(request('quick'));
    await expect.poll(received).toContain('"code":0');
    const closed = once(socket, 'close');
    socket.end();
    await closed;
    expect(signal?.aborted).toBe(false);
  });
});

it('a stateless endpoint has no app in its input', () => {
  const data = z.null();
  defineEndpoint({
    summary: 'Stateless',
    stateless: true,
    data,
    handler(input) {
      expectTypeOf(input).not.toHaveProperty('app');
      return null;
    },
  });
  defineEndpoint({
    summary: 'Other',
    data,
    handler(input) {
      expectTypeOf(input).toHaveProperty('app');
      return null;
    },
  });
});
