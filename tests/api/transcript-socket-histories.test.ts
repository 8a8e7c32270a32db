/**
 * Random histories over real sockets: at any grade and after any number of reconnects a client has the content of a
 * page, and all clients of one grade receive the same.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Grade } from '#schema/frames/transcripts.ts';
import type { TranscriptBatch } from '#schema/frames/transcript-updates.ts';
import type { TranscriptOp } from '#schema/rest/transcript-ops.ts';
import { event, internal } from '#server/journal/records.ts';
import { applyOps } from '#server/transcript/reducer/apply.ts';
import { emptyTranscript, type TranscriptState } from '#server/transcript/reducer/state.ts';
import { seeded } from '#support/random.ts';
import { createDriver } from '#support/session-histories.ts';
import { canonical, stateOfPage } from '#support/transcripts.ts';
import { followTranscripts, opsOf, pageOf, transcriptFrames } from '#support/transcript-follower.ts';
import type { TranscriptFollowing } from '#support/transcript-follower.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect } from '#support/ws-client.ts';

const LINES = 120;

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const isText = (op: TranscriptOp) => op.op === 'frame.upsert' && 'text' in op.frame;

/** Texts that have grown since they were last sent whole, which grades below `delta` do not receive. */
function grownIn(batches: readonly TranscriptBatch[]): Set<string> {
  const grown = new Set<string>();
  for (const op of batches.flatMap(({ ops }) => ops)) {
    if (op.op === 'append' && op.target.type === 'frame') grown.add(op.target.frameId);
    if (op.op === 'frame.upsert' && isText(op)) grown.delete(op.frame.frameId);
  }
  return grown;
}

/** The part of a state at grade `turn`: no steps, and only interactions of present turns. */
function asTurns(state: TranscriptState, present: ReadonlySet<string>) {
  const headers = state.items.map((item) => (item.kind === 'turn' ? { ...item, steps: [] } : item));
  const { interactions, pending, ...rest } = canonical({ ...state, items: headers });
  return {
    ...rest,
    interactions: interactions.filter(([id]) => present.has(id)),
    pending: pending.filter((id) => present.has(id)),
  };
}

/** Whether an op of a higher grade is also sent at this lower grade. */
const leftAt: Record<Exclude<Grade, 'off' | 'delta'>, (op: TranscriptOp) => boolean> = {
  block: ({ op }) => op !== 'append',
  turn: ({ op }) => op !== 'append' && op !== 'step.upsert' && op !== 'frame.upsert',
};

const batchesOf = (following: Pick<TranscriptFollowing, 'client'>, id: string, agentId: string): TranscriptBatch[] =>
  transcriptFrames(following.client, id).flatMap((frame) =>
    frame.type === 'transcript.ops' && frame.agent_id === agentId ? [frame] : [],
  );

const seqsOf = (batches: readonly TranscriptBatch[]) => batches.flatMap(({ seq }) => seq ?? []);

it.each([11, 23, 38])('history %i', async (seed) => {
  const random = seeded(seed * 101);
  const { id } = await world.session();
  const log = await world.server.app.sessions.use(id, (session) => session.log);
  await log.claim();
  const follow = async (grade: Grade) => {
    const following = await followTranscripts(world, id);
    await following.feed.follow({ '*': grade });
    return following;
  };
  const delta = await follow('delta');
  const block = await follow('block');
  const turn = await follow('turn');
  const restless = await follow('delta');
  const all = [delta, block, turn, restless];

  log.append([
    event('main', 'agent.created', {}, { kind: 'main' }),
    internal('main', 'agent.config', { model: 'm1', permission: 'manual', maxContextTokens: 1000 }),
  ]);
  const driver = createDriver(log, seeded(seed));

  async function compare(): Promise<void> {
    const { agents } = await pageOf(world, id);
    for (const { agentId } of agents) {
      await delta.caughtUp(agentId);
      await restless.caughtUp(agentId);
      const batches = batchesOf(delta, id, agentId);
      for (const [grade, one] of [['block', block] as const, ['turn', turn] as const]) {
        await one.caughtUp(agentId, seqsOf(batches.filter(({ ops }) => ops.some(leftAt[grade]))).at(-1) ?? 0);
      }
      const page = stateOfPage(await pageOf(world, id, agentId, { page_size: 100 }));
      const [atDelta, atBlock, atTurn, after] = all.map(({ feed }) => feed.state(agentId) ?? emptyTranscript());
      expect(atDelta && canonical(atDelta)).toEqual(canonical(page));
      expect(after && canonical(after)).toEqual(canonical(page));
      if (grownIn(batches).size === 0) expect(atBlock && canonical(atBlock)).toEqual(canonical(page));
      const present = new Set(page.interactions.keys());
      expect(atTurn && asTurns(atTurn, present)).toEqual(asTurns(page, present));
    }
  }

  for (let line = 0; line < LINES; line += 1) {
    await driver.step();
    if (random() < 0.04) await restless.reconnect();
    if (random() < 0.04) await compare();
  }
  await compare();

  const { agents } = await pageOf(world, id);
  expect(agents.length).toBeGreaterThan(1);
  for (const { agentId } of agents) {
    const full = batchesOf(delta, id, agentId);
    const first = seqsOf(full)[0] ?? 0;
    expect(seqsOf(full)).toEqual(full.map((_, at) => first + at));
    const { batches, complete } = await opsOf(world, id, first - 1, agentId);
    expect(complete).toBe(true);
    expect(full.map(({ seq, ops }) => ({ seq, ops }))).toEqual(batches);
    for (const [grade, { client }] of [['block', block] as const, ['turn', turn] as const]) {
      const expected = full.flatMap(({ seq, ops }) => {
        const left = ops.filter(leftAt[grade]);
        return left.length > 0 ? [{ seq, ops: left }] : [];
      });
      expect(batchesOf({ client }, id, agentId).map(({ seq, ops }) => ({ seq, ops }))).toEqual(expected);
    }
    // One baseline each, before any batch; an empty one for an agent that was created later.
    for (const { client } of [delta, block, turn]) {
      const own = transcriptFrames(client, id).filter((frame) => frame.agent_id === agentId);
      expect(own.filter(({ type }) => type === 'transcript.reset')).toHaveLength(1);
      expect(own[0]).toMatchObject({ type: 'transcript.reset', seq: 0, snapshot: { items: [], meta: {} } });
    }
  }

  // A replay from any number yields the state of a client that never disconnected.
  const main = batchesOf(delta, id, 'main');
  for (let times = 0; times < 5; times += 1) {
    const cut = Math.floor(random() * main.length);
    const state = emptyTranscript();
    for (const { ops } of main.slice(0, cut)) expect(applyOps(state, ops).gap).toBe(false);
    const late = await connect(world.server);
    const payload = {
      session_id: id,
      transcript: { main: 'delta' },
      transcript_since: { main: seqsOf(main)[cut - 1] ?? 0 },
    };
    expect((await late.send({ type: 'subscribe_v2', payload })).code).toBe(0);
    const replayed = batchesOf({ client: late }, id, 'main');
    expect(replayed.map(({ seq }) => seq)).toEqual(seqsOf(main).slice(cut));
    for (const { ops } of replayed) expect(applyOps(state, ops).gap).toBe(false);
    expect(canonical(state)).toEqual(canonical(delta.feed.state('main') ?? emptyTranscript()));
    await late.close();
  }
  for (const one of all) await one.close();
});
