/** The WebSocket over a real server. Every frame is checked against `/asyncapi.json` by the client. */
import { appendFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { requestFrames } from '#schema/frames/request-frames.ts';
import { startServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import type { TestServer } from '#support/server.ts';
import { RefusedUpgrade, connect } from '#support/ws-client.ts';
import type { ConnectOptions, WsClient } from '#support/ws-client.ts';

let server: TestServer;
let project: string;
const clients: WsClient[] = [];

beforeAll(async () => {
  server = await startServer();
  project = await mkdtemp(join(tmpdir(), 'project-'));
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(async () => {
  await server.close();
  await rm(project, { recursive: true, force: true });
});

async function open(options?: ConnectOptions, to = server): Promise<WsClient> {
  const client = await connect(to, options);
  clients.push(client);
  return client;
}

/** Asserts that no other frame is in flight: the answer is the next frame. */
async function expectQuiet(client: WsClient): Promise<void> {
  const before = client.frames.length;
  client.sendRaw('{"type":"ping","payload":{"nonce":"quiet"}}');
  await client.waitFor(({ type, payload }) => type === 'pong' && payload['nonce'] === 'quiet');
  expect(client.frames.slice(before).map(({ type }) => type)).toEqual(['pong']);
}

async function newSession(on = server): Promise<string> {
  const { data } = await on.api('POST', '/sessions', { metadata: { cwd: project } });
  return z.object({ id: z.string() }).parse(data).id;
}

/** Appends the records of `count` renames to the journal of an unloaded session. */
async function appendRenames(home: string, sessionId: string, count: number): Promise<void> {
  const [workspace = ''] = await readdir(join(home, 'sessions'));
  const lines = Array.from({ length: count }, (_, n) => {
    const title = `Title ${n}`;
    const rename = {
      type: 'session.meta.updated',
      title,
      patch: { title, isCustomTitle: true },
      x: { titleKind: 'custom' },
    };
    return `${JSON.stringify({ t: Date.now(), r: [{ seq: n + 2, agent: 'main', ...rename }] })}\n`;
  });
  await appendFile(join(home, 'sessions', workspace, sessionId, 'journal.ndjson'), lines.join(''));
}

const rename = (id: string, title: string, on = server) => on.api('POST', `/sessions/${id}/profile`, { title });

describe('connecting', () => {
  it('greets first, then stays silent', async () => {
    const client = await open();
    expect(client.hello).toMatchObject({
      type: 'server_hello',
      payload: { protocol_version: 2, max_event_buffer_size: 1000 },
    });
    expect(client.hello.payload).not.toHaveProperty('heartbeat_ms');
    await expectQuiet(client);
  });

  it('accepts the token in the subprotocol and echoes it', async () => {
    const carrier = `service-code.bearer.${server.token}`;
    expect((await open({ token: null, protocols: ['chat', carrier] })).protocol).toBe(carrier);
    expect((await open({ protocols: [] })).protocol).toBe('');
  });

  it('is refused without a token, with a bare 401', async () => {
    const refused = await connect(server, { token: null, path: `/api/v1/ws?token=${server.token}` }).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(RefusedUpgrade);
    expect(refused).toMatchObject({ status: 401, body: '' });
  });

  it('is listed by GET /connections', async () => {
    const client = await open({ headers: { 'user-agent': 'test/1' } });
    await client.send({ type: 'client_hello', payload: { client_id: 'test' } });
    const { data } = await server.api('GET', '/connections');
    expect(data).toEqual({
      connections: [
        {
          id: client.hello.payload['ws_connection_id'],
          connected_at: expect.any(String),
          remote_address: expect.stringContaining('127.0.0.1'),
          user_agent: 'test/1',
          has_client_hello: true,
          subscriptions: [],
        },
      ],
    });
  });

  it('is closed with 1001 when the server stops', async () => {
    const other = await startServer();
    const client = await connect(other);
    const [ended] = await Promise.all([client.closed, other.close()]);
    expect(ended).toEqual({ code: 1001, reason: 'server shutting down' });
  });

  it('is closed with 1008 when client_hello has a wrong token', async () => {
    const client = await open();
    expect(await client.send({ type: 'client_hello', payload: { token: server.token } })).toMatchObject({ code: 0 });
    expect(await client.send({ type: 'client_hello', payload: { token: 'wrong' } })).toMatchObject({
      code: 40101,
      msg: 'Unauthorized',
    });
    expect(await client.closed).toEqual({ code: 1008, reason: 'Unauthorized' });
    expect(client.frames.at(-1)).toMatchObject({ type: 'error', payload: { code: 40101, fatal: true } });
  });
});

describe('request frames', () => {
  it('get exactly one ack each, in order except for aborts, also as binary frames and after garbage', async () => {
    const client = await open();
    client.sendRaw('garbage');
    client.sendRaw(Buffer.from('{"type":"unsubscribe","id":1,"payload":{"session_ids":[]}}'));
    client.sendRaw('{"type":"subscribe","id":2,"payload":{"session_ids":["nope"]}}');
    client.sendRaw('{"type":"abort","id":3,"payload":{"session_id":"nope","prompt_id":"p"}}');
    client.sendRaw('{"type":"subscribe","id":4}');
    client.sendRaw('{"type":"teleport","id":5}');
    await client.waitFor(({ id }) => id === 5);
    await expectQuiet(client);
    const answered = client.frames.slice(1, 7);
    const aborted = answered.find(({ id }) => id === 3);
    expect(aborted).toMatchObject({ type: 'ack', code: 40401 });
    const answers = answered.filter((each) => each !== aborted);
    expect(answers.map(({ type, id, code }) => [type, id, code])).toEqual([
      ['error', undefined, undefined],
      ['ack', 1, 0],
      ['ack', 2, 0],
      ['ack', 4, 40001],
      ['ack', 5, 40001],
    ]);
    expect(answers[0]?.payload).toMatchObject({ code: 40001, fatal: false });
    expect(answers[2]?.payload).toMatchObject({ accepted: [], not_found: ['nope'] });
  });

  it('all have a handler that validates them', async () => {
    const client = await open();
    for (const { type } of requestFrames) {
      expect(await client.send({ type, payload: null })).toMatchObject({
        code: 40001,
        msg: 'Invalid payload: Invalid input: expected object, received null',
      });
    }
  });

  it('have acks that match their published schemas', async () => {
    const client = await open();
    const sessionId = await newSession();
    const subscriptions = [sessionId, 'nope'];
    expect(await client.send({ type: 'client_hello', payload: { subscriptions } })).toMatchObject({
      payload: { accepted_subscriptions: [sessionId], resync_required: ['nope'] },
    });
    for (const type of ['subscribe', 'unsubscribe']) {
      expect(await client.send({ type, payload: { session_ids: subscriptions } })).toMatchObject({ code: 0 });
      expect(await client.send({ type, payload: { session_ids: 1 } })).toMatchObject({ code: 40001 });
    }
    const abort = { session_id: sessionId, prompt_id: 'nope' };
    expect(await client.send({ type: 'abort', payload: abort })).toMatchObject({ code: 40402, payload: {} });
  });
});

describe('events', () => {
  it('reach every connection if global, otherwise only subscribers, each a single time', async () => {
    const subscribed = await open();
    const other = await open();
    const sessionId = await newSession();
    for (const client of [subscribed, other]) {
      await client.waitFor(({ type, session_id }) => type === 'event.session.created' && session_id === sessionId);
      expect(client.frames.filter(({ type }) => type.startsWith('event.workspace.'))).toHaveLength(1);
    }
    await subscribed.send({ type: 'subscribe', payload: { session_ids: [sessionId] } });
    // The first change of the agent creates it: an event of the session.
    await server.api('POST', `/sessions/${sessionId}/profile`, { agent_config: { permission_mode: 'auto' } });
    await rename(sessionId, 'Renamed');
    for (const client of [subscribed, other]) await client.waitFor(({ type }) => type === 'session.meta.updated');
    const durable = (client: WsClient) => client.durable(sessionId).map(({ type, seq }) => [type, seq]);
    expect(durable(subscribed)).toEqual([
      ['event.session.created', 1],
      ['agent.created', 2],
      ['session.meta.updated', 3],
    ]);
    expect(durable(other)).toEqual([
      ['event.session.created', 1],
      ['session.meta.updated', 3],
    ]);
  });

  it('replay from a cursor: 1000 events, but not 1001, of a cold session and of a live one', async () => {
    const home = await temporaryDirectory();
    try {
      const first = await startServer({ home });
      const sessionId = await newSession(first);
      await first.close();
      await appendRenames(home, sessionId, 1001);
      const second = await startServer({ home });
      const client = await open({}, second);
      const subscribe = (seq: number, epoch?: string) => {
        const cursors = { [sessionId]: epoch === undefined ? { seq } : { seq, epoch } };
        return client.send({ type: 'subscribe', payload: { session_ids: [sessionId], cursors } });
      };

      for (const last of [1002, 1003]) {
        const from = client.frames.length;
        const behind = await subscribe(last - 1001);
        expect(behind.payload).toMatchObject({ resync_required: [sessionId], cursors: { [sessionId]: { seq: last } } });
        expect(client.frames.slice(from, -1)).toMatchObject([
          { type: 'resync_required', payload: { reason: 'buffer_overflow', current_seq: last } },
        ]);

        const start = client.frames.length;
        expect((await subscribe(last - 1000)).payload).toMatchObject({ resync_required: [] });
        const replayed = client.frames.slice(start, -1);
        expect(replayed.map(({ seq }) => seq)).toEqual(Array.from({ length: 1000 }, (_, n) => last - 999 + n));

        for (const ack of [await subscribe(last + 1), await subscribe(last, 'ep_other')]) {
          expect(ack.payload).toMatchObject({ accepted: [sessionId], resync_required: [sessionId] });
          const notice = client.frames[client.frames.findIndex(({ id }) => id === ack.id) - 1];
          expect(notice).toMatchObject({
            type: 'resync_required',
            payload: { reason: 'epoch_changed', current_seq: last },
          });
        }
        // The subscription is active nevertheless, and the session is loaded now.
        await rename(sessionId, 'Next', second);
        await client.waitFor(({ seq, session_id }) => session_id === sessionId && seq === last + 1);
      }
      clients.splice(clients.indexOf(client), 1);
      await Promise.all([client.closed, second.close()]);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });

  it('keep their numbers and epochs over a restart, in a session and in the global stream', async () => {
    const home = await temporaryDirectory();
    try {
      const first = await startServer({ home });
      const before = await connect(first);
      const sessionId = await newSession(first);
      await rename(sessionId, 'One', first);
      await before.waitFor(({ type }) => type === 'session.meta.updated');
      const wanted = [...before.durable('__global__'), ...before.durable(sessionId)];
      await Promise.all([before.closed, first.close()]);

      const second = await startServer({ home });
      const after = await connect(second);
      const streams = ['__global__', sessionId];
      const cursors = Object.fromEntries(streams.map((id) => [id, { seq: 0 }]));
      const ack = await after.send({ type: 'subscribe', payload: { session_ids: streams, cursors } });
      expect(ack.payload).toMatchObject({ accepted: streams, resync_required: [] });
      const replayed = [...after.durable('__global__'), ...after.durable(sessionId)];
      expect(replayed.slice(0, wanted.length)).toEqual(wanted);
      await after.close();
      await second.close();
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });
});
