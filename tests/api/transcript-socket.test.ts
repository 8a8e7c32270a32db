/** Transcripts over a real WebSocket: grades, baselines, replay, and reloads of a session. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { event } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { canonical, stateOfPage } from '#support/transcripts.ts';
import { followTranscripts, opsOf, pageOf, transcriptFrame, transcriptFrames } from '#support/transcript-follower.ts';
import { agentConfig, shortTurn } from '#support/transcript-turns.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect, type ReceivedFrame, type WsClient } from '#support/ws-client.ts';

let world: World;
const clients: WsClient[] = [];
beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  for (const client of clients) await client.close();
  await world.close();
});

async function open(): Promise<WsClient> {
  const client = await connect(world.server);
  clients.push(client);
  return client;
}

async function logOf(id: string): Promise<SessionLog> {
  const log = await world.server.app.sessions.use(id, (session) => session.log);
  await log.claim();
  return log;
}

/** A session whose main agent has had `turns` turns. */
async function session(turns = 0) {
  const { id } = await world.session();
  const log = await logOf(id);
  log.append(agentConfig());
  for (let turn = 0; turn < turns; turn += 1) shortTurn(log, turn);
  return { id, log };
}

interface Asked {
  session_id: string;
  transcript: Record<string, unknown>;
  transcript_since?: Record<string, unknown>;
}

/** The ack, and the transcript frames that precede it. */
async function ask(client: WsClient, payload: Asked) {
  const from = client.frames.length;
  const ack = await client.send({ type: 'subscribe_v2', payload });
  const before = client.frames.slice(from, -1).flatMap((frame) => transcriptFrame(frame, payload.session_id) ?? []);
  return { ack, before };
}
const follow = async (client: WsClient, id: string, transcript: Record<string, string>) =>
  (await ask(client, { session_id: id, transcript })).before;

/** All frames received before the answer to a probe. */
async function settled(client: WsClient) {
  const nonce = `n${client.frames.length}`;
  client.sendRaw(JSON.stringify({ type: 'ping', payload: { nonce } }));
  await client.waitFor(({ type, payload }) => type === 'pong' && payload?.['nonce'] === nonce);
}

const kinds = (frames: readonly { type: string; agent_id: string }[]) =>
  frames.map(({ type, agent_id }) => `${type.slice('transcript.'.length)} ${agent_id}`);
const warn = (log: SessionLog, message: string, agent = 'main') => log.append([event(agent, 'warning', { message })]);
const typesOf = (frames: readonly ReceivedFrame[], id: string) =>
  frames.flatMap(({ session_id, type }) => (session_id === id ? [type] : []));

describe('subscribe_v2', () => {
  it('refuses invalid payloads as a whole', async () => {
    const { id, log } = await session();
    const client = await open();
    const wrong = [
      {},
      { session_id: '', transcript: {} },
      { session_id: id },
      { session_id: id, transcript: { main: 'all' } },
      { session_id: id, transcript: { main: 'delta' }, transcript_since: { main: -1 } },
    ];
    for (const payload of wrong) {
      expect(await client.send({ type: 'subscribe_v2', payload })).toMatchObject({ code: 40001 });
    }
    for (const payload of [
      {},
      { session_id: '' },
      { session_id: id, agent_ids: [] },
      { session_id: id, agent_ids: [''] },
    ]) {
      expect(await client.send({ type: 'unsubscribe_v2', payload })).toMatchObject({ code: 40001 });
    }
    warn(log, 'nobody hears it');
    await settled(client);
    expect(typesOf(client.frames, id)).not.toContain('warning');
  });

  it('reports unknown session ids, and accepts ending any subscription', async () => {
    const client = await open();
    for (const id of ['session_unknown', '__global__']) {
      const { ack, before } = await ask(client, { session_id: id, transcript: { main: 'delta' } });
      expect(ack).toMatchObject({
        code: 0,
        payload: { accepted: [], not_found: [id], resync_required: [], cursors: {} },
      });
      expect(before).toEqual([]);
      const ended = await client.send({ type: 'unsubscribe_v2', payload: { session_id: id } });
      expect(ended.payload).toEqual({ accepted: [id], not_found: [], resync_required: [] });
    }
  });

  it('sends volatile event frames, with the watermark of the session', async () => {
    const { id, log } = await session(1);
    const client = await open();
    await follow(client, id, { main: 'delta' });
    const reset = client.frames.find(({ type }) => type === 'transcript.reset');
    const { seq, epoch } = log.position();
    expect(reset).toMatchObject({ seq, epoch, volatile: true, session_id: id });
    expect(Object.keys(reset?.payload ?? {})).toEqual(['type', 'agent_id', 'snapshot', 'has_more_older', 'seq']);
    warn(log, 'careful');
    const ops = await client.waitFor(({ type }) => type === 'transcript.ops');
    expect(ops).toMatchObject({ seq: seq + 1, epoch, volatile: true });
    expect(Object.keys(ops.payload ?? {})).toEqual(['type', 'agent_id', 'ops', 'seq']);
    const page = await pageOf(world, id);
    expect(transcriptFrame(ops, id)?.seq).toBe(page.seq);
  });

  it('sends each grade its ops, and a baseline without steps at grade turn', async () => {
    const { id, log } = await session(2);
    const [turn, block, delta] = [await open(), await open(), await open()];
    const [atTurn] = await follow(turn, id, { '*': 'turn' });
    const [atBlock] = await follow(block, id, { '*': 'block' });
    await follow(delta, id, { '*': 'delta' });
    const page = await pageOf(world, id);
    const { items, tasks, meta } = page;
    expect(atBlock).toMatchObject({ snapshot: { items, tasks, meta }, seq: page.seq });
    expect(atTurn).toMatchObject({ snapshot: { items: items.map((item) => ({ ...item, steps: [] })), meta } });
    shortTurn(log, 2);
    warn(log, 'the end');
    for (const client of [turn, block, delta]) {
      await client.waitFor((frame) => JSON.stringify(frame.payload).includes('the end'));
    }
    const opsAt = (client: WsClient) =>
      transcriptFrames(client, id).flatMap((frame) => (frame.type === 'transcript.ops' ? [frame] : []));
    const { batches } = await opsOf(world, id, page.seq ?? 0);
    expect(opsAt(delta).map(({ seq, ops }) => ({ seq, ops }))).toEqual(batches);
    const named = (client: WsClient) => new Set(opsAt(client).flatMap(({ ops }) => ops.map(({ op }) => op)));
    expect(named(delta)).toContain('append');
    expect(named(block)).not.toContain('append');
    expect([...named(turn)].toSorted()).toEqual(['marker.upsert', 'meta.merge', 'turn.upsert']);
  });

  it('sends a baseline for a higher grade, and none for the same or a lower one', async () => {
    const { id, log } = await session(1);
    const client = await open();
    expect(kinds(await follow(client, id, { main: 'turn' }))).toEqual(['reset main']);
    expect(await follow(client, id, { main: 'turn' })).toEqual([]);
    expect(kinds(await follow(client, id, { main: 'block' }))).toEqual(['reset main']);
    expect(kinds(await follow(client, id, { '*': 'delta' }))).toEqual(['reset main']);
    expect(await follow(client, id, { '*': 'turn' })).toEqual([]);
    shortTurn(log, 1);
    warn(log, 'the end');
    await client.waitFor((frame) => JSON.stringify(frame.payload).includes('the end'));
    const ops = transcriptFrames(client, id).flatMap((frame) => (frame.type === 'transcript.ops' ? frame.ops : []));
    expect(ops.map(({ op }) => op)).not.toContain('step.upsert');
    expect(await follow(client, id, { '*': 'delta', main: 'off' })).toEqual([]);
    expect(kinds(await follow(client, id, { main: 'turn' }))).toEqual(['reset main']);
  });

  it('replays from a known number, filtered by the grade, and otherwise restarts with a baseline', async () => {
    const { id, log } = await session(1);
    const seq = (await pageOf(world, id)).seq ?? 0;
    shortTurn(log, 1);
    const { latest_seq, batches } = await opsOf(world, id, seq);
    const client = await open();
    const since = async (main: number, grade: string, key = 'main') =>
      (await ask(client, { session_id: id, transcript: { '*': grade }, transcript_since: { [key]: main } })).before;
    expect((await since(seq, 'delta')).map((frame) => frame.seq)).toEqual(batches.map((batch) => batch.seq));
    expect((await since(seq, 'delta', '*')).length).toBe(batches.length);
    const lower = await since(seq, 'turn');
    expect(lower.length).toBeLessThan(batches.length);
    expect(
      lower.flatMap((frame) => (frame.type === 'transcript.ops' ? frame.ops : [])).map(({ op }) => op),
    ).not.toContain('append');
    expect(await since(latest_seq, 'delta')).toEqual([]);
    expect(kinds(await since(latest_seq + 1, 'delta'))).toEqual(['reset main']);
    // A number of an earlier load of the session.
    expect(kinds(await since(5, 'delta'))).toEqual(['reset main']);
    expect(kinds(await since(5, 'turn'))).toEqual(['reset main']);
  });

  it('starts with at most 20 turns of 512 KiB, and leaves a longer newest turn to a page', async () => {
    const { id, log } = await session(24);
    const client = await open();
    const [many] = await follow(client, id, { main: 'delta' });
    expect(many).toMatchObject({ has_more_older: true, snapshot: { hasMoreOlder: true } });
    expect(many?.type === 'transcript.reset' && many.snapshot.items).toHaveLength(20);
    const long = await log.store('long '.repeat(60_000));
    shortTurn(log, 24, long);
    shortTurn(log, 25, long);
    await follow(client, id, { main: 'off' });
    const [bounded] = await follow(client, id, { main: 'delta' });
    expect(bounded?.type === 'transcript.reset' && bounded.snapshot.items).toHaveLength(1);
    shortTurn(log, 26, await log.store('more '.repeat(120_000)));
    const following = await followTranscripts(world, id);
    await following.feed.follow({ '*': 'delta' });
    expect(transcriptFrames(following.client, id)).toMatchObject([{ has_more_older: true, snapshot: { items: [] } }]);
    await following.caughtUp();
    expect(following.feed.state('main')?.items).not.toEqual([]);
    while (following.feed.state('main')?.hasMoreOlder) await following.feed.older('main');
    expect(following.feed.state('main')?.items).toHaveLength(27);
    await following.close();
  });

  it('sends long texts at their positions', async () => {
    const { id, log } = await session();
    const following = await followTranscripts(world, id);
    await following.feed.follow({ main: 'delta' });
    for (let turn = 0; turn < 6; turn += 1) {
      shortTurn(log, turn, turn % 2 === 0 ? await log.store(`${turn} `.repeat(20_000)) : 'short');
    }
    await following.caughtUp();
    const state = following.feed.state('main');
    expect(state && canonical(state)).toEqual(canonical(stateOfPage(await pageOf(world, id))));
    const seqs = transcriptFrames(following.client, id).flatMap(({ type, seq = 0 }) =>
      type === 'transcript.ops' ? [seq] : [],
    );
    expect(seqs).toEqual(seqs.map((_, at) => (seqs[0] ?? 0) + at));
    await following.close();
  });
});

it('a flood of small chunks becomes few batches', async () => {
  const { id } = await world.session();
  const following = await followTranscripts(world, id);
  await following.feed.follow({ main: 'delta' });
  const pieces = Array.from({ length: 1000 }, (_, n) => `${n} `);
  world.model.enqueue({ text: pieces });
  await world.prompt(id, 'Flood me');
  await following.client.waitFor((frame) => JSON.stringify(frame.payload).includes('"kind":"ended"'));
  await following.caughtUp();
  const appends = transcriptFrames(following.client, id).filter(
    (frame) => frame.type === 'transcript.ops' && frame.ops.some(({ op }) => op === 'append'),
  );
  expect(appends.length).toBeLessThan(pieces.length / 2);
  expect(following.feed.state('main')?.items).toMatchObject([{ steps: [{ frames: [{ text: pieces.join('') }] }] }]);
  await following.close();
});

describe('events of a followed agent', () => {
  const plain = (log: SessionLog, turn: number) => {
    shortTurn(log, turn);
    log.append([event('main', 'prompt.queued', { promptId: `q${turn}`, content: [], queueLength: 1 })]);
  };

  it('are sent only as ops, on that connection, until it is unsubscribed', async () => {
    const { id, log } = await session();
    const [client, other] = [await open(), await open()];
    await other.send({ type: 'subscribe', payload: { session_ids: [id] } });
    await follow(client, id, { main: 'turn' });
    const from = client.frames.length;
    plain(log, 0);
    // An event that only a feature renders in the transcript.
    log.append([event('main', 'hook.result', { hookEvent: 'Stop', content: 'Go on.' })]);
    await settled(client);
    await settled(other);
    const seen = new Set(typesOf(client.frames.slice(from), id));
    expect([...seen].toSorted()).toEqual(['event.session.work_changed', 'prompt.queued', 'transcript.ops']);
    expect(typesOf(other.frames, id)).toEqual(
      expect.arrayContaining(['turn.started', 'turn.ended', 'assistant.delta', 'hook.result']),
    );
    expect(typesOf(other.frames, id)).not.toContain('transcript.ops');

    const ended = await client.send({ type: 'unsubscribe_v2', payload: { session_id: id, agent_ids: ['main'] } });
    expect(ended).toMatchObject({ code: 0, payload: { accepted: [id], not_found: [], resync_required: [] } });
    const after = client.frames.length;
    plain(log, 1);
    await settled(client);
    const again = typesOf(client.frames.slice(after), id);
    expect(again).toEqual(expect.arrayContaining(['turn.started', 'assistant.delta', 'turn.ended', 'prompt.queued']));
    expect(again).not.toContain('transcript.ops');
  });

  it('are omitted from a replay too; other agents and filters are independent', async () => {
    const { id, log } = await session();
    log.append([event('agent-0', 'agent.created', {}, { kind: 'sub', parentAgentId: 'main', purpose: 'task' })]);
    warn(log, 'of main');
    warn(log, 'of another', 'agent-0');
    const client = await open();
    await follow(client, id, { main: 'turn', '*': 'off' });
    const from = client.frames.length;
    const cursors = { [id]: { seq: 0 } };
    await client.send({ type: 'subscribe', payload: { session_ids: [id], cursors } });
    const replayed = client.frames.slice(from).filter(({ type }) => type === 'warning');
    expect(replayed).toMatchObject([{ payload: { agentId: 'agent-0' } }]);
    // The event filter does not affect transcripts.
    await client.send({ type: 'subscribe', payload: { session_ids: [id], agent_filter: { [id]: ['agent-0'] } } });
    const filtered = client.frames.length;
    warn(log, 'of main again');
    warn(log, 'of another again', 'agent-0');
    await settled(client);
    expect(typesOf(client.frames.slice(filtered), id).toSorted()).toEqual(['transcript.ops', 'warning']);
    // A plain unsubscribe ends both subscriptions.
    await client.send({ type: 'unsubscribe', payload: { session_ids: [id] } });
    await client.send({ type: 'subscribe', payload: { session_ids: [id] } });
    const subscribed = client.frames.length;
    warn(log, 'plain');
    await settled(client);
    expect(typesOf(client.frames.slice(subscribed), id)).toEqual(['warning']);
  });

  it('are sent again for an agent that is unsubscribed by name, while all others stay followed', async () => {
    const { id, log } = await session();
    log.append([event('agent-0', 'agent.created', {}, { kind: 'sub', parentAgentId: 'main', purpose: 'task' })]);
    const client = await open();
    await follow(client, id, { '*': 'turn' });
    const typesOfWarnings = async () => {
      const from = client.frames.length;
      warn(log, 'of main');
      warn(log, 'of another', 'agent-0');
      await settled(client);
      return typesOf(client.frames.slice(from), id);
    };
    expect(await typesOfWarnings()).toEqual(['transcript.ops', 'transcript.ops']);
    const payload = { session_id: id, agent_ids: ['agent-0'] };
    expect(await client.send({ type: 'unsubscribe_v2', payload })).toMatchObject({ code: 0 });
    expect(await typesOfWarnings()).toEqual(['transcript.ops', 'warning']);
  });

  it('are unaffected if every grade is off', async () => {
    const { id, log } = await session();
    const client = await open();
    expect(await follow(client, id, { main: 'off', '*': 'off' })).toEqual([]);
    expect(await follow(client, id, {})).toEqual([]);
    plain(log, 0);
    await settled(client);
    expect(typesOf(client.frames, id)).toEqual(expect.arrayContaining(['turn.started', 'turn.ended']));
    expect(transcriptFrames(client, id)).toEqual([]);
  });
});

describe('agents', () => {
  it('that are created later start empty, before their first batch; off overrides the wildcard', async () => {
    const { id } = await world.session({
      metadata: { cwd: world.project },
    });
    const [all, some] = [await open(), await open()];
    await follow(all, id, { '*': 'delta' });
    await follow(some, id, { '*': 'delta', 'agent-1': 'off' });
    const call = {
      name: 'Agent',
      args: { prompt: 'Count the words', description: 'count', subagent_type: 'coder' },
    };
    const summary = 'The files hold two words, hello and world. '.repeat(6);
    for (const script of [{ calls: [call] }, { text: summary }, { text: 'Done.' }]) world.model.enqueue(script);
    await world.prompt(id, 'Go', { permission_mode: 'yolo' });
    await all.waitFor(
      (frame) => JSON.stringify(frame.payload).includes('"kind":"ended"') && frame.payload?.['agent_id'] === 'main',
    );
    const own = transcriptFrames(all, id).filter(({ agent_id }) => agent_id === 'agent-1');
    expect(own[0]).toEqual({
      type: 'transcript.reset',
      agent_id: 'agent-1',
      snapshot: {
        items: [],
        tasks: [],
        interactions: [],
        attachments: [],
        todos: [],
        prompts: [],
        meta: {},
        hasMoreOlder: false,
      },
      has_more_older: false,
      seq: 0,
    });
    expect(own.slice(1).map(({ type, seq }) => `${type} ${seq}`)).toEqual(
      own.slice(1).map((_, at) => `transcript.ops ${at + 1}`),
    );
    const at = (match: (frame: ReceivedFrame) => boolean) => all.frames.findIndex(match);
    const reset = at(({ type, payload }) => type === 'transcript.reset' && payload?.['agent_id'] === 'agent-1');
    expect(reset).toBeLessThan(
      at(({ type, payload }) => type === 'agent.created' && payload?.['agentId'] === 'agent-1'),
    );
    await settled(some);
    expect(transcriptFrames(some, id).filter(({ agent_id }) => agent_id === 'agent-1')).toEqual([]);
    expect(some.frames.some(({ type, payload }) => type === 'turn.ended' && payload?.['agentId'] === 'agent-1')).toBe(
      true,
    );

    // Without the wildcard, agents subscribed by name stay followed.
    await follow(all, id, { '*': 'turn', main: 'block' });
    await all.send({ type: 'unsubscribe_v2', payload: { session_id: id, agent_ids: ['*'] } });
    const log = await logOf(id);
    const from = all.frames.length;
    warn(log, 'of main');
    warn(log, 'of another', 'agent-1');
    await settled(all);
    expect(typesOf(all.frames.slice(from), id)).toEqual(['transcript.ops', 'warning']);
  });
});

describe('a session', () => {
  it('that is cold is not loaded by it; when it is loaded, the transcript restarts', async () => {
    const { id } = await session(3);
    const following = await followTranscripts(world, id);
    await following.feed.follow({ main: 'delta' });
    const first = following.feed.mark('main') ?? 0;
    const late = await open();
    await world.ok('POST', `/sessions/${id}:archive`);
    const { ack, before } = await ask(late, { session_id: id, transcript: { main: 'turn' } });
    expect(ack).toMatchObject({ code: 0, payload: { accepted: [id] } });
    expect(before).toEqual([]);
    expect(await pageOf(world, id)).not.toHaveProperty('seq');
    await world.ok('POST', `/sessions/${id}:restore`);
    for (const client of [late, following.client]) {
      await expect
        .poll(() => transcriptFrames(client, id).filter(({ type }) => type === 'transcript.reset'))
        .toHaveLength(1);
    }
    const log = await logOf(id);
    shortTurn(log, 3);
    await following.caughtUp();
    expect(following.feed.mark('main')).toBeGreaterThan(first);
    const state = following.feed.state('main');
    expect(state && canonical(state)).toEqual(canonical(stateOfPage(await pageOf(world, id))));
    await following.close();
  });

  it('on a new server is sent from its beginning, regardless of what a client had', async () => {
    const own = await startWorld();
    try {
      const { id } = await own.session();
      const following = await followTranscripts(own, id);
      await following.feed.follow({ '*': 'delta' });
      own.model.enqueue({ text: 'One.' });
      await own.prompt(id, 'First');
      await following.client.waitFor((frame) => JSON.stringify(frame.payload).includes('"kind":"ended"'));
      await own.restart();
      await following.reconnect();
      own.model.enqueue({ text: 'Two.' });
      await own.prompt(id, 'Second');
      await following.client.waitFor((frame) => JSON.stringify(frame.payload).includes('"kind":"ended"'));
      expect(transcriptFrames(following.client, id)[0]).toMatchObject({ type: 'transcript.reset', agent_id: 'main' });
      await following.caughtUp();
      const page = await pageOf(own, id);
      expect(page.items).toHaveLength(2);
      const state = following.feed.state('main');
      expect(state && canonical(state)).toEqual(canonical(stateOfPage(page)));
      await following.close();
    } finally {
      await own.close();
    }
  });
});
