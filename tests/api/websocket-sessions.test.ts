/** Events of running sessions that clients receive: scopes, filters, subscriptions, aborts. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { isGlobalEvent } from '#server/events/frame.ts';
import type { Message, Snapshot } from '#schema/rest/message.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect, type ReceivedFrame, type WsClient } from '#support/ws-client.ts';

let world: World;
let clients: WsClient[] = [];

beforeAll(async () => {
  world = await startWorld();
});
afterEach(async () => {
  const open = clients;
  clients = [];
  for (const client of open) await client.close();
});
afterAll(() => world.close());

async function open(): Promise<WsClient> {
  const client = await connect(world.server);
  clients.push(client);
  return client;
}

const subscribe = (client: WsClient, id: string, seq?: number, agents?: string[]) =>
  client.send({
    type: 'subscribe',
    payload: {
      session_ids: [id],
      ...(seq === undefined ? {} : { cursors: { [id]: { seq } } }),
      ...(agents ? { agent_filter: { [id]: agents } } : {}),
    },
  });

const ended = (client: WsClient, promptId: string) =>
  client.waitFor(({ type, payload }) => type === 'prompt.completed' && payload['promptId'] === promptId);

/** Waits until everything published so far has arrived. */
async function settled(client: WsClient): Promise<void> {
  const nonce = `settled-${client.frames.length}`;
  client.sendRaw(JSON.stringify({ type: 'ping', payload: { nonce } }));
  await client.waitFor(({ type, payload }) => type === 'pong' && payload['nonce'] === nonce);
}

/** One turn with two steps: text, a call, text. */
async function runTurn(id: string, watcher: WsClient, text = 'Go'): Promise<string> {
  world.model.enqueue({ text: 'Reading.', calls: [{ name: 'Read', args: { path: 'a.txt' } }] });
  world.model.enqueue({ text: 'Done.' });
  const { prompt_id } = await world.prompt(id, text);
  await ended(watcher, prompt_id);
  return prompt_id;
}

const seqs = (frames: readonly ReceivedFrame[]) => frames.map(({ seq }) => seq);
const types = (frames: readonly ReceivedFrame[]) => frames.map(({ type }) => type);
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, n) => first + n);

describe('scopes', () => {
  test('a turn reaches its subscribers whole and others by its global events, each frame a single time', async () => {
    const { id } = await world.session();
    const [subscribed, other] = [await open(), await open()];
    await subscribe(subscribed, id, 0);
    await runTurn(id, subscribed);
    await settled(subscribed);
    await settled(other);
    const whole = subscribed.durable(id);
    expect(seqs(whole)).toEqual(upTo(whole.length));
    expect(other.frames.filter(({ session_id }) => session_id === id)).toEqual(
      whole.filter(({ type, seq }) => seq !== 1 && isGlobalEvent(type)),
    );
    expect(types(other.durable(id))).toEqual([
      'session.meta.updated',
      'event.session.work_changed',
      'event.session.work_changed',
    ]);
  });

  test('after unsubscribing only global events arrive', async () => {
    const { id } = await world.session();
    const [watcher, client] = [await open(), await open()];
    await subscribe(watcher, id);
    await subscribe(client, id);
    const held = world.model.enqueue({ text: ['One', ' and two.'], hold: true });
    const { prompt_id } = await world.prompt(id, 'Go');
    await held.sent;
    await client.waitFor(({ type }) => type === 'assistant.delta');
    await client.send({ type: 'unsubscribe', payload: { session_ids: [id] } });
    const from = client.frames.length;
    held.release();
    await ended(watcher, prompt_id);
    await settled(client);
    expect(types(client.frames.slice(from))).toEqual(['event.session.work_changed', 'pong']);
  });

  test('two sessions on one connection have independent numbers', async () => {
    const [first, second] = [await world.session(), await world.session()];
    const client = await open();
    await client.send({ type: 'subscribe', payload: { session_ids: [first.id, second.id] } });
    for (const id of [first.id, second.id, first.id]) await runTurn(id, client);
    for (const [{ id }, turns] of [
      [first, 2],
      [second, 1],
    ] as const) {
      const frames = client.durable(id);
      expect(seqs(frames)).toEqual(upTo(frames.length + 1, 2));
      expect(types(frames).filter((type) => type === 'turn.ended')).toHaveLength(turns);
    }
  });
});

describe('the agent filter', () => {
  const always = ['event.session.created', 'agent.created', 'session.meta.updated', 'event.session.work_changed'];

  test('of another agent passes creations and global events, live and in the replay, until it is replaced', async () => {
    const { id } = await world.session();
    const [watcher, live] = [await open(), await open()];
    await subscribe(watcher, id, 0);
    await subscribe(live, id, 0, ['agent-7']);
    await runTurn(id, watcher);
    await settled(live);
    const wanted = watcher.durable(id).filter(({ type }) => always.includes(type));
    expect(live.frames.filter(({ session_id }) => session_id === id)).toEqual(wanted);

    const replayed = await open();
    await subscribe(replayed, id, 0, ['agent-7']);
    expect(replayed.durable(id)).toEqual(wanted);

    // An empty list means no filter, and so does an absent one.
    for (const [agents, text] of [[[], 'Again'] as const, [undefined, 'And again'] as const]) {
      await subscribe(live, id, undefined, agents && [...agents]);
      const from = live.frames.length;
      await runTurn(id, live, text);
      expect(types(live.frames.slice(from))).toContain('turn.started');
      expect(types(live.frames.slice(from))).toContain('assistant.delta');
      await subscribe(live, id, undefined, ['agent-7']);
    }
  });

  test('of the main agent passes all of its events', async () => {
    const { id } = await world.session();
    const client = await open();
    await subscribe(client, id, 0, ['main']);
    await runTurn(id, client);
    const frames = client.durable(id);
    expect(seqs(frames)).toEqual(upTo(frames.length));
  });
});

describe('subscribing', () => {
  test('to a cold session loads nothing, replays from disk, and delivers after another request loads it', async () => {
    const { id } = await world.session();
    const before = await open();
    await subscribe(before, id, 0);
    await runTurn(id, before);
    const known = before.durable(id);
    clients = [];
    await world.restart();

    const client = await open();
    const ack = await subscribe(client, id, 0);
    const last = known.length;
    // A stop unloads the session, which publishes that its outcome was reset.
    expect(types(client.durable(id)).slice(last)).toEqual(['event.session.work_changed', 'agent.disposed']);
    expect(client.durable(id).slice(0, last)).toEqual(known);
    expect(ack.payload['cursors']).toEqual({ [id]: { seq: last + 2, epoch: known[0]?.epoch } });
    expect(world.server.app.sessions.liveRow(id)).toBeUndefined();

    await runTurn(id, client, 'After the restart');
    expect(seqs(client.durable(id))).toEqual(upTo(client.durable(id).length));
  });

  test('to an archived session works, and the subscription outlives the restore', async () => {
    const { id } = await world.session();
    const client = await open();
    await subscribe(client, id, 0);
    await world.ok('POST', `/sessions/${id}:archive`);
    await subscribe(client, id);
    await world.ok('POST', `/sessions/${id}:restore`);
    await runTurn(id, client);
    expect(seqs(client.durable(id))).toEqual(upTo(client.durable(id).length));
  });

  test('again without a cursor replays nothing and changes nothing', async () => {
    const { id } = await world.session();
    const client = await open();
    await subscribe(client, id, 0);
    await subscribe(client, id);
    await client.send({ type: 'client_hello', payload: { client_id: 'page', subscriptions: [id] } });
    await runTurn(id, client);
    expect(seqs(client.durable(id))).toEqual(upTo(client.durable(id).length));
  });

  test('with client_hello replays like subscribe', async () => {
    const { id } = await world.session();
    const watcher = await open();
    await subscribe(watcher, id, 0);
    await runTurn(id, watcher);
    const client = await open();
    const ack = await client.send({
      type: 'client_hello',
      payload: { client_id: 'page', subscriptions: [id, 'nope'], cursors: { [id]: { seq: 3 } } },
    });
    const last = watcher.durable(id).at(-1);
    expect(ack.payload).toEqual({
      accepted_subscriptions: [id],
      resync_required: ['nope'],
      cursors: { [id]: { seq: last?.seq, epoch: last?.epoch } },
    });
    expect(client.durable(id)).toEqual(watcher.durable(id).slice(3));
    expect(types(client.frames)).not.toContain('resync_required');
  });
});

describe('the frame abort', () => {
  const abort = (client: WsClient, session_id: string, prompt_id: string) =>
    client.send({ type: 'abort', payload: { session_id, prompt_id } });

  test('has every outcome of the prompt that it names', async () => {
    const { id } = await world.session();
    const client = await open();
    await subscribe(client, id);
    const held = world.model.enqueue({ text: 'Half', hold: true });
    const running = await world.prompt(id, 'First');
    await held.sent;
    const queued = await world.prompt(id, 'Second');

    expect(await abort(client, id, queued.prompt_id)).toMatchObject({ code: 0, payload: { aborted: true } });
    const at = client.durable(id).at(-1);
    expect(at).toMatchObject({ type: 'prompt.aborted', payload: { promptId: queued.prompt_id } });
    const accepted = await abort(client, id, running.prompt_id);
    expect(accepted).toMatchObject({ code: 0, payload: { aborted: true, at_seq: at?.seq } });
    await client.waitFor(({ type, payload }) => type === 'prompt.aborted' && payload['promptId'] === running.prompt_id);

    for (const prompt of [running, queued]) {
      const again = await abort(client, id, prompt.prompt_id);
      expect(again).toMatchObject({ code: 40903, payload: { aborted: false } });
      expect(again.msg).toBe(`prompt ${prompt.prompt_id} already completed`);
    }
    expect(await abort(client, id, 'msg_unknown')).toMatchObject({ code: 40402, payload: {} });
    expect(await abort(client, 'session_unknown', 'msg_unknown')).toMatchObject({ code: 40401, payload: {} });
    expect(await client.send({ type: 'abort', payload: { session_id: id } })).toMatchObject({
      code: 40001,
      payload: { details: [{ path: 'prompt_id' }] },
    });
  });

  test('recognises prompts of an earlier process', async () => {
    const { id } = await world.session();
    const watcher = await open();
    await subscribe(watcher, id);
    const promptId = await runTurn(id, watcher);
    clients = [];
    await world.restart();
    expect(await abort(await open(), id, promptId)).toMatchObject({
      code: 40903,
      msg: `prompt ${promptId} already completed`,
    });
  });
});

describe('a client that does not read', () => {
  /** Far more than the socket buffers of server and client hold. */
  const FLOOD_FRAMES = 400;
  const TEXT = 'x'.repeat(64 * 1024);

  test('aborts immediately, even after a subscribe that waits until it reads', async () => {
    const { id } = await world.session();
    const [client, watcher] = [await open(), await open()];
    await subscribe(client, id);
    const held = world.model.enqueue({ text: 'Half', hold: true });
    const { prompt_id } = await world.prompt(id, 'Go');
    await held.sent;
    client.pause();
    const log = await world.server.app.sessions.use(id, (session) => session.log);
    for (let count = 0; count < FLOOD_FRAMES; count += 1) {
      const update = { kind: 'stdout', text: TEXT } as const;
      log.volatile('main', 'tool.progress', { turnId: 0, toolCallId: 'call', update });
      await new Promise((resolve) => setImmediate(resolve));
    }
    await subscribe(watcher, id);
    client.sendRaw(JSON.stringify({ type: 'subscribe', id: 'waits', payload: { session_ids: [id] } }));
    const sent = performance.now();
    client.sendRaw(JSON.stringify({ type: 'abort', id: 'abort', payload: { session_id: id, prompt_id } }));
    await watcher.waitFor(({ type, payload }) => type === 'prompt.aborted' && payload['promptId'] === prompt_id);
    // In a shared queue the frame would wait until the client reads, or 30 s.
    expect(performance.now() - sent).toBeLessThan(25_000);
    expect(client.frames.some((frame) => frame.id === 'waits')).toBe(false);
    client.resume();
    await client.waitFor((frame) => frame.id === 'waits');
    await client.waitFor((frame) => frame.id === 'abort');
  });
});

/** The turn's text as a client rebuilds it: a snapshot, then deltas by their offsets. */
function rebuilt(snapshot: Snapshot, frames: readonly ReceivedFrame[], kind: 'assistant' | 'thinking') {
  const inFlight = snapshot.in_flight_turn;
  const start = inFlight ? inFlight[`${kind}_offset`] : turnText(snapshot.messages.items, kind).length;
  let text = inFlight ? inFlight[`${kind}_text`] : '';
  for (const { type, offset = 0, payload } of frames) {
    if (type !== `${kind}.delta`) continue;
    const delta = z.string().parse(payload['delta']);
    const end = start + text.length;
    // A delta that starts before the end is a repetition: no delta may extend past its snapshot.
    if (offset < end) continue;
    if (offset > end) throw new Error(`a hole of ${offset - end} characters at ${end}`);
    text += delta;
  }
  return { start, text };
}

/** Joined texts of the assistant's messages. */
function turnText(messages: readonly Message[], kind: 'assistant' | 'thinking'): string {
  const parts = messages.filter(({ role }) => role === 'assistant').flatMap(({ content }) => content);
  const texts = parts.map((part) => {
    if (kind === 'assistant') return part.type === 'text' ? part.text : '';
    return part.type === 'thinking' ? part.thinking : '';
  });
  return texts.join('');
}

describe('a client that joins while a turn streams', () => {
  const JOINS = 100;
  /** Few words, because a hundred clients that check every frame share the processor with the server. */
  const words = (count: number, word: string) => Array.from({ length: count }, (_, n) => `${word}${n} 🙂 `);

  test(`rebuilds its texts from snapshot and offsets, ${JOINS} times`, async () => {
    const { id } = await world.session();
    const watcher = await open();
    await subscribe(watcher, id);
    const calls = [{ name: 'Read', args: { path: 'a.txt' } }];
    const steps = ['first', 'second', 'last'].map((step) => ({
      thinking: words(60, `thought-${step}-`),
      text: words(60, `word-${step}-`),
    }));
    for (const step of steps) {
      world.model.enqueue({ ...step, ...(step === steps.at(-1) ? {} : { calls }), paceMs: 2 });
    }
    const total = steps.flatMap(({ thinking, text }) => [...thinking, ...text]).join('').length;
    const joined = await Promise.all(Array.from({ length: JOINS }, open));

    const { prompt_id } = await world.prompt(id, 'Tell me a lot');
    let streamed = 0;
    void watcher.waitFor(({ type, payload }) => {
      if (type.endsWith('.delta')) streamed += String(payload['delta'] ?? '').length;
      return type === 'prompt.completed';
    });
    const joins = await Promise.all(
      joined.map(async (client) => {
        const moment = Math.random() * total;
        await watcher.waitFor(({ type }) => type === 'prompt.completed' || streamed >= moment);
        const ack = await subscribe(client, id);
        return { client, ack, snapshot: await world.snapshot(id) };
      }),
    );
    await ended(watcher, prompt_id);
    await Promise.all(joined.map(settled));

    const messages = await world.messages(id);
    const moments = new Set<string>();
    for (const { client, ack, snapshot } of joins) {
      for (const kind of ['assistant', 'thinking'] as const) {
        const { start, text } = rebuilt(snapshot, client.frames, kind);
        expect(text).toBe(turnText(messages, kind).slice(start));
      }
      moments.add(JSON.stringify(snapshot.in_flight_turn));
      // Durable events continue directly after the ack's position.
      const live = client.frames.slice(client.frames.findIndex((frame) => frame.id === ack.id));
      const position = z.object({ [id]: z.object({ seq: z.number() }) }).parse(ack.payload['cursors'])[id]?.seq ?? 0;
      const numbers = seqs(live.filter(({ session_id, volatile }) => session_id === id && !volatile));
      expect(numbers).toEqual(upTo(watcher.durable(id).at(-1)?.seq ?? 0, position + 1));
    }
    // Guards against all clients joining at the same moment.
    expect(moments.size).toBeGreaterThan(20);
  });
});
