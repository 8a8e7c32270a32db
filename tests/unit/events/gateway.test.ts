import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { ServiceError, sessionNotFound } from '#server/errors/service-error.ts';
import { REPLAY_WINDOW_EVENTS } from '#server/events/cursor.ts';
import { createEventBus } from '#server/events/bus.ts';
import { createGateway } from '#server/events/gateway.ts';
import type { EventFrame } from '#server/events/frame.ts';
import type { PeerHandle } from '#server/events/peer.ts';
import { sessionFrames } from '#server/sessions/requests/conversation-actions.ts';
import { defineFrame } from '#server/events/frame-handler.ts';
import type { FrameHandler } from '#server/events/frame-handler.ts';
import { createLogger } from '#server/logging/log.ts';
import { BIND_CONNECTION } from '#server/net/connection-facts.ts';
import { EPOCH, delta, frame, testPeer, testStreams } from './fixtures.ts';
import type { TestPeer, TestStream } from './fixtures.ts';
import { until } from '#support/patience.ts';

const numbered = (count: number, sessionId = 's1') =>
  Array.from({ length: count }, (_, index) => frame('turn.started', index + 1, {}, { sessionId }));

function setup(streams: Record<string, TestStream> = {}, extra: FrameHandler[] = []) {
  const log = createLogger('silent');
  const bus = createEventBus({ log });
  const source = testStreams(streams);
  const frames = sessionFrames({
    async abort(sessionId, promptId) {
      if (!(sessionId in streams)) throw sessionNotFound(sessionId);
      if (promptId === 'done') {
        throw new ServiceError('prompt.already_completed', 'prompt done already completed', {
          data: { aborted: false },
        });
      }
      if (promptId === 'boom') throw new Error('out of order');
      return { aborted: true, at_seq: 7 };
    },
  });
  const gateway = createGateway({
    bus,
    sessions: source,
    globalStream: testStreams({ __global__: { frames: [], live: true } }),
    frames: [...frames, ...extra],
    auth: { accepts: async (token) => token === 'right' },
    log,
    times: { batchMs: 1, drainMs: 1, stallMs: 60_000 },
  });
  /** A durable event of a session: appended to the stream, then published to the connections. */
  const publish = (event: EventFrame) => {
    if (!event.volatile) streams[event.sessionId]?.frames.push(event);
    bus.publish(event);
  };
  const connect = () => {
    const peer = testPeer();
    const handle = gateway.open(peer, {
      connection: BIND_CONNECTION,
      remoteAddress: '127.0.0.1',
      userAgent: 'test',
      secret: null,
    });
    return { peer, handle, ...client(peer, handle) };
  };
  return { bus, gateway, connect, publish, source };
}

function client(peer: TestPeer, handle: PeerHandle) {
  let nextId = 0;
  const types = () => peer.sent.map(({ type }) => type);
  const seqs = () => peer.sent.flatMap(({ type, seq }) => (type !== 'ack' && seq !== undefined ? [seq] : []));
  const waitFor = async (predicate: (sent: TestPeer['sent']) => boolean) => {
    await until(() => predicate(peer.sent));
  };
  return {
    types,
    seqs,
    waitFor,
    say: (value: unknown) => handle.message(JSON.stringify(value)),
    async ask(type: string, payload?: unknown) {
      nextId += 1;
      const id = `q${nextId}`;
      handle.message(Buffer.from(JSON.stringify({ type, id, payload })));
      await waitFor((sent) => sent.some((answer) => answer.type === 'ack' && answer.id === id));
      return peer.sent.find((answer) => answer.id === id) ?? expect.fail('no ack');
    },
  };
}

describe('a connection', () => {
  it('receives its hello first and is listed', async () => {
    const { bus, gateway, connect } = setup({ s2: { frames: [], live: false }, s1: { frames: [], live: false } });
    const { peer, handle, ask } = connect();
    expect(peer.sent[0]).toEqual({
      type: 'server_hello',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      payload: {
        ws_connection_id: expect.stringMatching(/^conn_[0-9A-Z]{26}$/),
        protocol_version: 2,
        max_event_buffer_size: 1000,
        capabilities: { event_batching: false, compression: false },
      },
    });
    await ask('client_hello', { client_id: 'c', subscriptions: ['s2', 's1'] });
    expect(gateway.list()).toEqual([
      {
        id: peer.sent[0]?.payload['ws_connection_id'],
        connected_at: expect.any(String),
        remote_address: '127.0.0.1',
        user_agent: 'test',
        has_client_hello: true,
        subscriptions: ['s1', 's2'],
      },
    ]);
    expect(bus.followers('s1')).toBe(1);
    handle.closed();
    expect(gateway.list()).toEqual([]);
    expect(bus.followers('s1')).toBe(0);
  });

  it('without activity receives no frames and stays open', async () => {
    vi.useFakeTimers();
    try {
      const { connect } = setup({ s1: { frames: [], live: true } });
      const { peer, say, types } = connect();
      say({ type: 'subscribe', id: 'a', payload: { session_ids: ['s1'] } });
      await vi.advanceTimersByTimeAsync(1000);
      expect(types()).toEqual(['server_hello', 'ack']);
      await vi.advanceTimersByTimeAsync(180_000);
      expect(types()).toEqual(['server_hello', 'ack']);
      expect([peer.closes, peer.terminated]).toEqual([[], false]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is closed with 1001 when the gateway closes', async () => {
    const { gateway, connect } = setup();
    const { peer, handle } = connect();
    const closed = gateway.close();
    expect(peer.closes).toEqual([{ code: 1001, reason: 'server shutting down' }]);
    handle.closed();
    await closed;
    expect(peer.terminated).toBe(false);
    expect(connect().peer.closes).toHaveLength(1);
  });

  it('is dropped when the client does not complete the close handshake', async () => {
    const { gateway, connect } = setup();
    const { peer } = connect();
    vi.useFakeTimers();
    const closed = gateway.close();
    await vi.advanceTimersByTimeAsync(1000);
    vi.useRealTimers();
    await closed;
    expect(peer.terminated).toBe(true);
  });
});

describe('frames', () => {
  const streams = { s1: { frames: numbered(3), live: false } };

  const setupOne = () => setup(streams).connect();

  it.each(['{', '[]', 'null', '"x"', '{}', '{"type":1}'])('answer %s with an error frame', async (text) => {
    const { peer, handle, ask } = setupOne();
    handle.message(text);
    await ask('unsubscribe', { session_ids: [] });
    expect(peer.sent[1]).toMatchObject({ type: 'error', payload: { code: 40001, fatal: false } });
    expect(peer.sent[1]).not.toHaveProperty('session_id');
  });

  it('receive acks in order, with the type of the id unchanged', async () => {
    const { peer, say, waitFor } = setupOne();
    say({ type: 'subscribe', id: 7, payload: { session_ids: ['s1', 'nope'] } });
    say({ type: 'unsubscribe', id: 'seven', payload: { session_ids: ['s1'] } });
    say({ type: 'unsubscribe', payload: { session_ids: [] } });
    say({ type: 'watch', id: 8 });
    await waitFor((sent) => sent.length === 5);
    expect(peer.sent.slice(1)).toEqual([
      {
        type: 'ack',
        id: 7,
        code: 0,
        msg: 'success',
        payload: {
          accepted: ['s1'],
          not_found: ['nope'],
          resync_required: [],
          cursors: { s1: { seq: 3, epoch: EPOCH } },
        },
      },
      {
        type: 'ack',
        id: 'seven',
        code: 0,
        msg: 'success',
        payload: { accepted: [], not_found: [], resync_required: [] },
      },
      { type: 'ack', id: '', code: 0, msg: 'success', payload: { accepted: [], not_found: [], resync_required: [] } },
      { type: 'ack', id: 8, code: 40001, msg: 'unsupported frame type: watch', payload: {} },
    ]);
  });

  it('of unknown type without an id, and pongs, are ignored', async () => {
    const { types, say, ask } = setupOne();
    say({ type: 'watch' });
    say({ type: 'pong', id: 'p', payload: { nonce: 4 } });
    await ask('unsubscribe', { session_ids: [] });
    expect(types()).toEqual(['server_hello', 'ack']);
  });

  it('with an invalid payload are refused with details and have no effect', async () => {
    const { ask } = setupOne();
    expect(await ask('subscribe', { session_ids: ['s1'], cursors: { s1: { seq: -1 } } })).toEqual({
      type: 'ack',
      id: 'q1',
      code: 40001,
      msg: 'Invalid payload: cursors.s1.seq: Too small: expected number to be >=0',
      payload: { details: [{ path: 'cursors.s1.seq', message: 'Too small: expected number to be >=0' }] },
    });
    expect(await ask('subscribe')).toMatchObject({
      msg: 'Invalid payload: session_ids: Invalid input: expected array, received undefined',
    });
    expect(await ask('subscribe', null)).toMatchObject({
      msg: 'Invalid payload: Invalid input: expected object, received null',
    });
  });

  it('ping is answered with its nonce only', async () => {
    const { peer, say, waitFor } = setupOne();
    say({ type: 'ping', id: 1, payload: { nonce: 'n' } });
    say({ type: 'ping' });
    await waitFor((sent) => sent.length === 3);
    expect(peer.sent.slice(1)).toEqual([
      { type: 'pong', timestamp: expect.any(String), payload: { nonce: 'n' } },
      { type: 'pong', timestamp: expect.any(String), payload: { nonce: '' } },
    ]);
  });

  it('client_hello with a wrong token closes the connection with 1008', async () => {
    const { peer, ask } = setupOne();
    expect(await ask('client_hello', { token: 'right' })).toMatchObject({ code: 0 });
    const refused = await ask('client_hello', { token: 'wrong', subscriptions: ['s1'] });
    expect(refused).toMatchObject({ code: 40101, msg: 'Unauthorized', payload: {} });
    expect(peer.sent.at(-1)).toMatchObject({ type: 'error', payload: { code: 40101, fatal: true } });
    expect(peer.closes).toEqual([{ code: 1008, reason: 'Unauthorized' }]);
  });

  it('client_hello lists unknown sessions as resync_required, without a frame', async () => {
    const { ask, types } = setupOne();
    expect(await ask('client_hello', { subscriptions: ['s1', 'nope'] })).toMatchObject({
      payload: {
        accepted_subscriptions: ['s1'],
        resync_required: ['nope'],
        cursors: { s1: { seq: 3, epoch: EPOCH } },
      },
    });
    expect(types()).toEqual(['server_hello', 'ack']);
  });

  it('abort returns the outcome and the error codes', async () => {
    const { ask } = setupOne();
    expect(await ask('abort', { session_id: 's1', prompt_id: 'p' })).toMatchObject({
      code: 0,
      payload: { aborted: true, at_seq: 7 },
    });
    expect(await ask('abort', { session_id: 'nope', prompt_id: 'p' })).toMatchObject({ code: 40401, payload: {} });
    expect(await ask('abort', { session_id: 's1', prompt_id: 'done' })).toMatchObject({
      code: 40903,
      payload: { aborted: false },
    });
    expect(await ask('abort', { session_id: 's1', prompt_id: 'boom' })).toMatchObject({
      code: 50001,
      msg: 'internal error',
      payload: { message: 'out of order' },
    });
    expect(await ask('abort', { session_id: 's1' })).toMatchObject({ code: 40001 });
  });

  it('accept names of Object members as ordinary session ids', async () => {
    const { ask } = setupOne();
    expect(await ask('subscribe', { session_ids: ['constructor'], cursors: {}, agent_filter: {} })).toMatchObject({
      code: 0,
      payload: { not_found: ['constructor'] },
    });
  });

  it('that arrive too fast pause the socket until they are handled', async () => {
    const { peer, say, waitFor } = setupOne();
    for (let id = 0; id < 300; id += 1) say({ type: 'unsubscribe', id, payload: { session_ids: [] } });
    expect(peer.paused).toBe(true);
    await waitFor((sent) => sent.length === 301);
    expect(peer.paused).toBe(false);
    expect(peer.sent.slice(1).map(({ id }) => id)).toEqual(Array.from({ length: 300 }, (_, id) => id));
  });

  it('are handled while the client does not read, until 256 answers wait', async () => {
    const { peer, say, waitFor } = setupOne();
    peer.stalled = true;
    say({ type: 'ping', payload: { nonce: 'x'.repeat(1024 * 1024 + 1) } });
    for (let id = 0; id < 400; id += 1) say({ type: 'unsubscribe', id, payload: { session_ids: [] } });
    await waitFor((sent) => sent.length === 2);
    // 256 answers wait for the socket and the other frames for them, which together exceeds the inbox.
    for (let id = 400; id < 600; id += 1) say({ type: 'unsubscribe', id, payload: { session_ids: [] } });
    await until(() => peer.paused);
    expect(peer.sent).toHaveLength(2);
    peer.stalled = false;
    peer.drain();
    await waitFor((sent) => sent.length === 602);
    expect(peer.sent.slice(2).map(({ id }) => id)).toEqual(Array.from({ length: 600 }, (_, id) => id));
    expect(peer.paused).toBe(false);
  });

  it('do not wait for those of another row: an abort overtakes a subscribe that waits for the socket', async () => {
    const aborted: string[] = [];
    const late = defineFrame(
      { type: 'stop', payload: z.object({}) },
      { lane: 'control', handle: () => void aborted.push('stop') },
    );
    const { connect } = setup({ s1: { frames: [], live: true } }, [late]);
    const { peer, say, waitFor, types } = connect();
    peer.stalled = true;
    say({ type: 'ping', payload: { nonce: 'x'.repeat(1024 * 1024 + 1) } });
    await waitFor((sent) => sent.length === 2);
    say({ type: 'ping' });
    say({ type: 'subscribe', id: 1, payload: { session_ids: ['s1'] } });
    say({ type: 'unsubscribe', id: 2, payload: { session_ids: ['s1'] } });
    say({ type: 'stop' });
    await until(() => aborted.length === 1);
    expect(types()).toEqual(['server_hello', 'pong']);
    peer.stalled = false;
    peer.drain();
    await waitFor((sent) => sent.length === 5);
    expect(peer.sent.slice(2).map(({ type, id }) => id ?? type)).toEqual(['pong', 1, 2]);
  });

  it('with too many session ids are refused, and unknown ids delay no other work', async () => {
    const { connect, source } = setup({ s1: { frames: [], live: true } });
    const many = (count: number) => Array.from({ length: count }, (_, n) => `unknown-${n}`);
    const { ask } = connect();
    for (const [type, member] of [
      ['subscribe', 'session_ids'],
      ['unsubscribe', 'session_ids'],
      ['client_hello', 'subscriptions'],
    ] as const) {
      expect(await ask(type, { [member]: many(1001) })).toMatchObject({
        code: 40001,
        payload: { details: [{ path: member, message: expect.stringContaining('1000') }] },
      });
    }
    for (const [member, value] of [
      ['cursors', { seq: 1 }],
      ['agent_filter', ['main']],
    ] as const) {
      const table = Object.fromEntries(many(1001).map((id) => [id, value]));
      expect(await ask('subscribe', { session_ids: ['s1'], [member]: table })).toMatchObject({
        code: 40001,
        payload: { details: [{ path: member, message: expect.stringContaining('1000') }] },
      });
    }

    // Looking up an unknown session costs as much as a query, and does not yield to the event loop.
    vi.spyOn(source, 'exists').mockImplementation(async () => {
      for (const end = performance.now() + 0.2; performance.now() < end;);
      return false;
    });
    let turns = 0;
    const timer = setInterval(() => (turns += 1));
    const acked = await ask('subscribe', { session_ids: many(1000) });
    clearInterval(timer);
    expect(acked.payload['not_found']).toHaveLength(1000);
    expect(turns).toBeGreaterThan(10);
  });

  it('of a domain get its reply; what the client opened is released a single time, even if a release throws', async () => {
    const released: string[] = [];
    const opens = defineFrame(
      { type: 'open', payload: z.object({ name: z.string() }), ack: z.object({ opened: z.string() }) },
      {
        handle({ name }, opener) {
          opener.onClose(() => {
            released.push(`${name} of ${opener.id}`);
            if (name === 'broken') throw new Error('out of order');
          });
          opener.send('answer', JSON.stringify({ type: 'opening', payload: { name } }));
          return { opened: name };
        },
      },
    );
    const { connect, gateway } = setup({}, [opens]);
    const { ask, handle, types, peer } = connect();
    const id = gateway.list()[0]?.id;
    expect(await ask('open', { name: 'broken' })).toMatchObject({ code: 0, payload: { opened: 'broken' } });
    await ask('open', { name: 'other' });
    expect(await ask('open', {})).toMatchObject({ code: 40001, payload: { details: [{ path: 'name' }] } });
    expect(types().slice(1)).toEqual(['opening', 'ack', 'opening', 'ack', 'ack']);
    handle.closed();
    handle.closed();
    expect(released).toEqual([`broken of ${id}`, `other of ${id}`]);
    expect(gateway.list()).toEqual([]);
    expect(peer.closes).toEqual([]);
    expect(() => setup({}, [opens, opens])).toThrow('two handlers');
  });
});

it('what a client opens after its connection has closed is released', async () => {
  const steps: string[] = [];
  let proceed: (() => void) | undefined;
  const opens = defineFrame(
    { type: 'open', payload: z.object({}), ack: z.object({}) },
    {
      async handle(_payload, opener) {
        await new Promise<void>((resolve) => (proceed = resolve));
        opener.onClose(() => steps.push('released'));
        steps.push('opened');
        return {};
      },
    },
  );
  const { connect } = setup({}, [opens]);
  const { say, handle } = connect();
  say({ type: 'open', id: 'q1', payload: {} });
  await until(() => proceed !== undefined);
  handle.closed();
  proceed?.();
  await until(() => steps.length === 2);
  expect(steps).toEqual(['opened', 'released']);
});

describe('a peer that throws', () => {
  it('is dropped without affecting the connections after it', async () => {
    const { connect, publish, bus } = setup({ s1: { frames: [], live: true } });
    const [broken, whole] = [connect(), connect()];
    for (const each of [broken, whole]) await each.ask('subscribe', { session_ids: ['s1'] });
    vi.spyOn(broken.peer, 'send').mockImplementation(() => {
      throw new Error('not open');
    });
    publish(frame('event.session.work_changed', 1));
    publish(frame('turn.started', 2));
    await whole.waitFor((sent) => sent.at(-1)?.type === 'turn.started');
    expect(whole.seqs()).toEqual([1, 2]);
    expect(broken.peer.terminated).toBe(true);
    expect(bus.followers('s1')).toBe(1);
  });

  it('in a timer of its queue has no effect on others either', async () => {
    const { connect, publish } = setup({ s1: { frames: [], live: true } });
    const { peer, ask } = connect();
    await ask('subscribe', { session_ids: ['s1'] });
    vi.spyOn(peer, 'send').mockImplementation(() => {
      throw new Error('not open');
    });
    publish(frame('turn.started', 1));
    await until(() => peer.terminated);
  });
});

describe('fan-out', () => {
  it('sends global events to all connections a single time, and session events to subscribers', async () => {
    const { connect, publish } = setup({ s1: { frames: [], live: true } });
    const subscribed = connect();
    const other = connect();
    await subscribed.ask('subscribe', { session_ids: ['s1'] });
    publish(frame('event.session.work_changed', 1));
    publish(frame('turn.started', 2));
    await subscribed.waitFor((sent) => sent.some(({ type }) => type === 'turn.started'));
    expect(subscribed.seqs()).toEqual([1, 2]);
    expect(other.seqs()).toEqual([1]);
  });

  it('ends with unsubscribe, except for global events', async () => {
    const { connect, publish } = setup({ s1: { frames: [], live: true } });
    const { ask, seqs, types } = connect();
    await ask('subscribe', { session_ids: ['s1'] });
    publish(frame('turn.started', 1));
    await ask('unsubscribe', { session_ids: ['s1'] });
    publish(frame('turn.ended', 2));
    publish(frame('session.meta.updated', 3));
    expect(seqs()).toEqual([1, 3]);
    expect(types().at(-1)).toBe('session.meta.updated');
  });

  it('applies the agent filter, live and in the replay', async () => {
    const events = () => [
      frame('agent.created', 1, {}, { agent: 'agent-2' }),
      frame('turn.started', 2, {}, { agent: 'agent-2' }),
      frame('subagent.spawned', 3, { subagentId: 'agent-2' }),
      frame('event.session.work_changed', 4, {}),
      frame('agent.disposed', 5, {}, { agent: 'agent-2' }),
    ];
    const { connect, publish } = setup({ s1: { frames: [], live: true } });
    const live = connect();
    await live.ask('subscribe', { session_ids: ['s1'], agent_filter: { s1: ['main'] } });
    for (const event of events()) publish(event);
    await live.waitFor((sent) => sent.at(-1)?.seq === 5);
    expect(live.seqs()).toEqual([1, 3, 4, 5]);

    const late = connect();
    await late.ask('subscribe', { session_ids: ['s1'], agent_filter: { s1: ['main'] }, cursors: { s1: { seq: 0 } } });
    expect(late.seqs()).toEqual([1, 3, 4, 5]);

    // An empty, malformed or absent entry means every agent.
    for (const filter of [[], [1], 'main']) {
      await late.ask('subscribe', { session_ids: ['s1'], agent_filter: { s1: filter } });
      const before = late.seqs().length;
      publish(frame('turn.ended', 6, {}, { agent: 'agent-2' }));
      await late.waitFor(() => late.seqs().length === before + 1);
    }
  });
});

describe('cursors', () => {
  const stream = () => ({ s1: { frames: numbered(1500), live: false } });
  const resync = (reason: string) => ({
    type: 'resync_required',
    timestamp: expect.any(String),
    payload: { session_id: 's1', reason, current_seq: 1500, epoch: EPOCH },
  });

  it.each([
    ['at the end', { seq: 1500, epoch: EPOCH }, 0],
    ['without epoch', { seq: 1490 }, 10],
    ['with an empty epoch', { seq: 1490, epoch: '' }, 10],
    ['1000 behind', { seq: 1500 - REPLAY_WINDOW_EVENTS, epoch: EPOCH }, 1000],
  ])('%s replay the missing events', async (_name, cursor, count) => {
    const { ask, seqs, types } = setup(stream()).connect();
    expect(await ask('subscribe', { session_ids: ['s1'], cursors: { s1: cursor } })).toMatchObject({
      payload: { accepted: ['s1'], resync_required: [], cursors: { s1: { seq: 1500, epoch: EPOCH } } },
    });
    expect(seqs()).toEqual(Array.from({ length: count }, (_, index) => cursor.seq + 1 + index));
    expect(types().at(-1)).toBe('ack');
  });

  it.each([
    ['of another epoch', { seq: 1500, epoch: 'ep_other' }, 'epoch_changed'],
    ['ahead of the stream', { seq: 1501 }, 'epoch_changed'],
    ['1001 behind', { seq: 499, epoch: EPOCH }, 'buffer_overflow'],
  ])('%s request a resync, with the subscription active', async (_name, cursor, reason) => {
    const { connect, publish } = setup(stream());
    const { peer, ask, waitFor } = connect();
    const ack = await ask('subscribe', { session_ids: ['s1'], cursors: { s1: cursor } });
    expect(ack).toMatchObject({
      payload: { accepted: ['s1'], resync_required: ['s1'], cursors: { s1: { seq: 1500, epoch: EPOCH } } },
    });
    expect(peer.sent.slice(1)).toEqual([resync(reason), ack]);
    publish(frame('turn.ended', 1501));
    await waitFor((sent) => sent.at(-1)?.seq === 1501);
  });

  it('whose events were removed request a resync', async () => {
    const { ask, peer } = setup({ s1: { frames: numbered(10).slice(5), live: false } }).connect();
    const ack = await ask('subscribe', { session_ids: ['s1'], cursors: { s1: { seq: 2 } } });
    expect(ack).toMatchObject({ payload: { resync_required: ['s1'] } });
    expect(peer.sent.at(-2)).toMatchObject({
      type: 'resync_required',
      payload: { reason: 'session_recreated', current_seq: 10 },
    });
  });
});

describe('joined text', () => {
  it('is written when it is flushed, and ends where a subscription begins', async () => {
    const { connect, publish, bus } = setup({ s1: { frames: [], live: true } });
    const early = connect();
    await early.ask('subscribe', { session_ids: ['s1'] });
    publish(delta('a', 0));
    expect(early.types().at(-1)).toBe('assistant.delta');
    const late = connect();
    publish(delta('b', 1));
    await late.ask('subscribe', { session_ids: ['s1'] });
    publish(delta('c', 2));
    bus.flush('s1');
    const texts = ({ peer }: { peer: TestPeer }) =>
      peer.sent.flatMap(({ offset, payload }) => (payload['delta'] ? [[offset, payload['delta']]] : []));
    expect(texts(early)).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
    ]);
    expect(texts(late)).toEqual([[2, 'c']]);
  });

  it('of a slow client is split at the position that was read', async () => {
    const { connect, publish, bus } = setup({ s1: { frames: [], live: true } });
    const { peer, ask, say, waitFor } = connect();
    await ask('subscribe', { session_ids: ['s1'] });
    peer.stalled = true;
    say({ type: 'ping', payload: { nonce: 'x'.repeat(1024 * 1024 + 1) } });
    await waitFor((sent) => sent.at(-1)?.type === 'pong');
    for (const [offset, text] of [...'abcd'].entries()) {
      publish(delta(text, offset));
      if (text === 'b') bus.flush('s1');
    }
    bus.flush('s1');
    peer.stalled = false;
    peer.drain();
    await waitFor((sent) => sent.at(-1)?.type === 'assistant.delta');
    expect(peer.sent.slice(3).map(({ offset, payload }) => [offset, payload['delta']])).toEqual([
      [0, 'ab'],
      [2, 'cd'],
    ]);
  });
});

describe('the switch from replay to live', () => {
  it('does not lose, repeat or reorder events, at any time', async () => {
    const { connect, publish } = setup({ s1: { frames: numbered(50), live: true } });
    const clients = [];
    let seq = 50;
    for (let round = 0; round < 30; round += 1) {
      const joined = connect();
      const asked = joined.ask('subscribe', { session_ids: ['s1'], cursors: { s1: { seq: round, epoch: EPOCH } } });
      // Global and session events, from before the frame is read until after the replay.
      for (let step = 0; step < 5; step += 1) {
        publish(frame('turn.step.started', (seq += 1)));
        publish(frame('event.session.work_changed', (seq += 1)));
        publish(delta('x', 0, seq));
        await new Promise((resolve) => setImmediate(resolve));
      }
      clients.push({ joined, asked, from: round });
    }
    const last = seq;
    for (const { joined, asked, from } of clients) {
      await asked;
      await joined.waitFor((sent) => sent.some((each) => each.seq === last));
      const durable = joined.peer.sent.filter((each) => each.session_id !== undefined && !('volatile' in each));
      const start = durable.findIndex((each) => each.seq === from + 1);
      expect(durable.slice(start).map((each) => each.seq)).toEqual(
        Array.from({ length: last - from }, (_, index) => from + 1 + index),
      );
    }
  });

  const settled = ['tool.result', 'turn.ended', 'event.session.work_changed'];
  it.each([
    ['a cursor', { seq: 2, epoch: EPOCH }, [3, 4, 5, 6]],
    ['a current cursor', { seq: 6, epoch: EPOCH }, []],
    ['no cursor', undefined, [6]],
  ])(
    'events published during the load do not precede the replay and arrive a single time: %s',
    async (_name, cursor, expected) => {
      const { connect, publish, source } = setup({ s1: { frames: numbered(3), live: true } });
      const position = source.position.bind(source);
      // Like a session that crashed in a turn: its load appends the records that close the turn.
      source.position = async (id) => {
        settled.forEach((type, index) => publish(frame(type, 4 + index)));
        await new Promise((resolve) => setImmediate(resolve));
        return position(id);
      };
      const { ask, seqs } = connect();
      const ack = await ask('subscribe', { session_ids: ['s1'], ...(cursor ? { cursors: { s1: cursor } } : {}) });
      expect(ack.payload).toMatchObject({ accepted: ['s1'] });
      publish(frame('turn.started', 7));
      await until(() => seqs().includes(7));
      expect(seqs()).toEqual([...expected, 7]);
    },
  );

  it('delivers events published during the load if no replay follows', async () => {
    const { connect, publish, source } = setup({ s1: { frames: numbered(3), live: true } });
    source.exists = async (id) => {
      publish(frame('event.session.work_changed', 4));
      return id === 's1';
    };
    const { ask, seqs, types } = connect();
    await ask('subscribe', { session_ids: ['s1'], cursors: { s1: { seq: 1, epoch: 'another' } } });
    expect(types()).toContain('resync_required');
    expect(seqs()).toContain(4);
  });

  it('ends with one resync_required when too many events arrive during the replay', async () => {
    const { connect, publish } = setup({ s1: { frames: numbered(3), live: true } });
    const { peer, ask, waitFor } = connect();
    const asked = ask('subscribe', { session_ids: ['s1'], cursors: { s1: { seq: 0 } } });
    await new Promise((resolve) => setImmediate(resolve));
    for (let seq = 4; seq <= 1500; seq += 1) publish(frame('turn.started', seq));
    expect(await asked).toMatchObject({ payload: { resync_required: ['s1'] } });
    const notices = peer.sent.filter(({ type }) => type === 'resync_required');
    expect(notices.map(({ payload }) => payload['reason'])).toEqual(['buffer_overflow']);
    await waitFor((sent) => sent.some(({ seq }) => seq === 1500));
    const rest = peer.sent.slice(peer.sent.indexOf(notices[0] ?? expect.fail())).flatMap(({ seq }) => seq ?? []);
    const current = Number(notices[0]?.payload['current_seq']);
    expect(rest).toEqual(Array.from({ length: 1500 - current }, (_, index) => current + 1 + index));
  });

  it('applies backpressure to the replay for a client that does not read', async () => {
    const { connect } = setup({
      s1: {
        frames: numbered(100).map((each) => ({ ...each, payload: { ...each.payload, text: 'x'.repeat(100_000) } })),
        live: false,
      },
    });
    const { peer, ask, seqs, waitFor } = connect();
    peer.stalled = true;
    const asked = ask('subscribe', { session_ids: ['s1'], cursors: { s1: { seq: 0 } } });
    await waitFor(() => peer.bufferedAmount() > 1024 * 1024);
    expect(seqs().length).toBeLessThan(20);
    peer.stalled = false;
    peer.drain();
    await asked;
    expect(seqs()).toHaveLength(100);
  });
});

describe('a client that does not read while 10 000 events pass', () => {
  it('receives one resync_required per session; the others see no delay', async () => {
    const { connect, publish } = setup({ s1: { frames: [], live: true } });
    const slow = connect();
    const quick = connect();
    for (const each of [slow, quick]) await each.ask('subscribe', { session_ids: ['s1'] });
    slow.peer.stalled = true;
    for (let seq = 1; seq <= 10_000; seq += 1) {
      publish(frame('tool.result', seq, { output: 'x'.repeat(2000) }));
    }
    await quick.waitFor(() => quick.seqs().length === 10_000);
    expect(slow.peer.bufferedAmount()).toBeLessThan(2 * 1024 * 1024);
    const before = slow.seqs().length;
    slow.peer.stalled = false;
    slow.peer.drain();
    await slow.waitFor((sent) => sent.at(-1)?.seq === 10_000);
    expect(slow.types().filter((type) => type === 'resync_required')).toHaveLength(1);
    expect(slow.seqs().length - before).toBeLessThanOrEqual(1000);
  });
});
