/**
 * All ways of reading a transcript have the same result: followed from any moment, read of a loaded session, folded
 * from its file, or from a part of its file. Over random histories.
 */
import assert from 'node:assert/strict';
import { cp, mkdir, readFile, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#server/clock.ts';
import { features } from '#server/features/features.ts';
import { foldJournal } from '#server/journal/cold-fold.ts';
import { forkSessionLog } from '#server/journal/fork-log.ts';
import { readContext } from '#server/journal/projections/context.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { event, internal } from '#server/journal/records.ts';
import { transcriptProjection, type TranscriptFold } from '#server/transcript/fold.ts';
import { createLiveTranscripts } from '#server/transcript/live.ts';
import { createMapper } from '#server/transcript/mapper.ts';
import { createOpJournals } from '#server/transcript/op-journal.ts';
import { readOps, readPage, stateOf, type TranscriptSource } from '#server/transcript/reads.ts';
import type { StoredItem, TranscriptState } from '#server/transcript/reducer/state.ts';
import { iso } from '#schema/scalars.ts';
import type { Session } from '#schema/rest/session.ts';
import type { TranscriptPage } from '#schema/rest/transcript.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { seeded, type Random } from '#support/random.ts';
import { createDriver } from '#support/session-histories.ts';
import { logOptions, openLog, SESSION_ID, temporaryFolder } from '#support/session-logs.ts';
import { canonical, listed, stateOfPage } from '#support/transcripts.ts';
import { applyLawfully, expectLawful, expectSettled, expectStillThere } from '#support/lawful-transcripts.ts';

const HISTORIES = 2000;
const TOGETHER = 100;
/** Histories that run concurrently, since each waits for the disk. */
const AT_ONCE = 10;
const LINES = 24;

const mapper = createMapper(features);
const projection = transcriptProjection(mapper);
const projections = [...features.flatMap((feature) => feature.projection ?? []), projection];

let root: string;
let remove: () => Promise<void>;
beforeEach(async () => ({ path: root, remove } = await temporaryFolder({ inMemory: true })));
afterEach(() => remove());

/** No listener receives its events. */
const open = (dir: string) => openLog(dir, { sink: { publish() {} } });

/** The transcripts as read of a loaded session. */
async function live(log: SessionLog): Promise<TranscriptSource> {
  const journals = createOpJournals();
  const opened = await createLiveTranscripts({
    log,
    mapper,
    journals,
    clock: systemClock,
    unrecorded: () => [],
  }).open();
  return { fold: opened.fold, live: opened, load: log.load };
}

/** The transcripts as read of the file: running while the owner lives, else settled. */
async function folded(dir: string, sessionId = SESSION_ID): Promise<TranscriptSource & { lastTime: number }> {
  const { state, blobs } = await foldJournal({ dir, sessionId, holder: leaseHolder(), projections });
  return { fold: projection.of(state.features), load: blobs.load, lastTime: state.lastTime };
}

/** `isDeepStrictEqual` is fast, `toEqual` reports the difference. */
function expectSame(one: unknown, other: unknown, what: string): void {
  if (isDeepStrictEqual(one, other)) return;
  expect(one).toEqual(other);
  throw new Error(`${what}: members that are undefined`);
}

function expectSameAgents(one: TranscriptSource, other: TranscriptSource, what: string): void {
  expectSame([...one.fold.roster.values()], [...other.fold.roster.values()], `${what}: roster`);
  for (const id of new Set([...one.fold.agents.keys(), ...other.fold.agents.keys()])) {
    expectSame(canonical(stateOf(one, id)), canonical(stateOf(other, id)), `${what}: ${id}`);
  }
}

function expectLawfulAgents({ agents, roster }: TranscriptFold): void {
  for (const { state } of agents.values()) expectLawful(state, new Set(roster.keys()));
}

/** A page with all turns. */
async function pageOf(source: TranscriptSource, id: string): Promise<TranscriptPage> {
  const page = await readPage(source, id, { size: 100 });
  const waiting = page.interactions.filter(({ state }) => state === 'pending');
  assert.deepEqual(
    page.pending_interactions,
    waiting.map(({ interactionId }) => interactionId),
  );
  return page;
}

const pagesOf = async (source: TranscriptSource) =>
  new Map(await Promise.all([...source.fold.agents.keys()].map(async (id) => [id, await pageOf(source, id)] as const)));

interface Follower {
  id: string;
  seq: number;
  state: TranscriptState;
  /** Items that an undo removed: none of them may appear again. */
  gone: Set<string>;
}

/** A client that reads a page now, but may receive it after further changes. */
async function joinNow(source: TranscriptSource, id: string): Promise<Follower> {
  const page = await pageOf(source, id);
  return { id, seq: page.seq ?? 0, state: stateOfPage(page), gone: new Set() };
}

/** Applies the missed batches; the result must equal a page read at the same moment. */
async function catchUp(source: TranscriptSource, follower: Follower): Promise<void> {
  const { id, state } = follower;
  const reads = [readOps(source, id, follower.seq), pageOf(source, id)] as const;
  const [{ batches, complete, latest_seq }, page] = await Promise.all(reads);
  assert.equal(complete, true);
  for (const { seq, ops } of batches) {
    follower.seq += 1;
    if (seq !== follower.seq || ops.length === 0) throw new Error('a hole, or an empty batch');
    applyLawfully(state, ops);
    for (const op of ops) if (op.op === 'items.remove') for (const one of op.ids) follower.gone.add(one);
    // A turn that was cut in the middle is added again with its beginning in the same batch.
    if (ops.some(({ op }) => op === 'items.remove')) for (const one of state.byId.keys()) follower.gone.delete(one);
    for (const one of follower.gone) assert.ok(!state.byId.has(one), `${one} was undone and came again`);
  }
  assert.equal(follower.seq, latest_seq);
  assert.equal(page.seq, latest_seq);
  expectSame(listed(state), listed(stateOfPage(page)), `followed: ${id}`);
}

/** The steps in the context equal those in the transcript, except for compacted ones. */
function expectSteps({ state }: SessionLog, source: TranscriptSource): void {
  const { items } = stateOf(source, 'main');
  const shown = items.flatMap((item) => (item.kind === 'turn' ? item.steps.map(({ stepId }) => stepId) : []));
  const { entries } = readContext(state.context, 'main');
  const known = entries.flatMap(({ turnId, step }) => (step === undefined ? [] : `t${turnId}.${step}`));
  const compacted = entries.some(({ message }) => message.origin?.kind === 'compaction_summary');
  const same = compacted ? shown.filter((stepId) => known.includes(stepId)) : shown;
  assert.deepEqual([...new Set(known)], same);
}

/** The clients' pages at a length of the journal. */
interface Seen {
  length: number;
  pages: Map<string, TranscriptPage>;
}

/** Checks one random session, read in every way. */
async function check(seed: number): Promise<void> {
  const random = seeded(seed * 7919);
  const dir = join(root, `session-${seed}`);
  const { log } = await open(dir);
  await log.claim();
  log.append([
    event('main', 'agent.created', {}, { kind: 'main' }),
    internal('main', 'agent.config', { model: 'm1', permission: 'manual', maxContextTokens: 1000 }),
  ]);
  const driver = createDriver(log, seeded(seed));
  const openAt = random() < 0.5 ? 0 : Math.floor(random() * LINES);
  const seeAt = Math.floor(random() * LINES * 2);
  let source: TranscriptSource | undefined;
  let seen: Seen | undefined;
  const followers: Follower[] = [];
  for (let line = 0; line < LINES; line += 1) {
    if (line === openAt) {
      source = await live(log);
      followers.push(await joinNow(source, 'main'));
    }
    // Reads that start here are awaited after the next line.
    const joining = source && random() < 0.1 ? joinNow(source, random() < 0.7 ? 'main' : 'agent-0') : undefined;
    const one = followers[Math.floor(random() * followers.length)];
    const catching = source && one && random() < 0.15 ? catchUp(source, one) : undefined;
    await driver.step();
    await catching;
    if (joining) followers.push(await joining);
    if (source && line === seeAt) seen = { length: log.length, pages: await pagesOf(source) };
  }
  source ??= await live(log);
  for (const follower of followers) await catchUp(source, follower);
  expectLawfulAgents(source.fold);
  expectSteps(log, source);
  expectSameAgents(source, await folded(dir), 'live and folded');
  await log.close();
  if (random() < 0.1) await checkFork(dir, seed);
  await checkCut(dir, random, seen);
}

/** The part of the original that a copy has: all but its goal, with the end times of running operations masked. */
function copied({ fold }: TranscriptSource, ...ends: number[]): unknown {
  const agents = [...fold.agents].map(([id, { state }]) => {
    const { meta, items, ...rest } = canonical(state);
    const { goal: _goal, agent: { contextTokens: _tokens, contextUsage: _usage, ...agent } = {}, ...others } = meta;
    return { id, ...rest, items: items.filter((item) => !isPause(item)), meta: { ...others, agent } };
  });
  const roster = [...fold.roster.values()].map((one) => (one.type === 'main' ? { ...one, createdAt: '' } : one));
  const text = JSON.stringify({ agents, roster }).replaceAll(fold.sessionId, 'its id');
  return JSON.parse(ends.reduce((one, end) => one.replaceAll(iso(end), 'its end'), text));
}

/** Only the original has the pause of the goal. */
const isPause = (item: StoredItem) =>
  item.kind === 'marker' && item.marker === 'goal' && JSON.stringify(item.payload).includes('"paused"');

const session = (id: string) => ({ id, title: '', metadata: { cwd: '/p' } }) as unknown as Session;

/** A copy of a session has the same content under the same ids; later changes affect the copy only. */
async function checkFork(dir: string, seed: number): Promise<void> {
  const original = await folded(dir);
  const sessionId = `copy-${seed}`;
  const stage = join(root, `stage-${seed}`);
  await mkdir(stage);
  await cp(join(dir, 'blobs'), join(stage, 'blobs'), { recursive: true }).catch(() => undefined);
  const source = { dir, sessionId: SESSION_ID };
  const { options } = logOptions(join(root, sessionId), { sessionId, sink: { publish() {} } });
  const begin = async () => ({ session: session(sessionId), titleKind: 'replaceable' as const });
  const log = await forkSessionLog({ ...options, source, stage, kind: 'fork', begin });
  const copy = await live(log);
  expectSame(copied(copy, original.lastTime, log.state.lastTime), copied(original, original.lastTime), 'copied');
  assert.equal(stateOf(copy, 'main').meta.goal, undefined);
  await log.claim();
  const driver = createDriver(log, seeded(seed), 1000);
  const follower = await joinNow(copy, 'main');
  for (let line = 0; line < 4; line += 1) await driver.step();
  await catchUp(copy, follower);
  expectSameAgents(copy, await folded(log.dir, sessionId), 'a copy, live and folded');
  await log.close();
  expectSameAgents(await folded(dir), original, 'the original of a copy');
}

/** After a crash at any byte, a reader, a load and a reader after the load have the same result. */
async function checkCut(dir: string, random: Random, seen: Seen | undefined): Promise<void> {
  const journal = join(dir, 'journal.ndjson');
  const text = await readFile(journal);
  const from = seen?.length ?? text.indexOf(10) + 1;
  await truncate(journal, from + Math.floor(random() * (text.length - from + 1)));
  const before = await folded(dir);
  expectLawfulAgents(before.fold);
  for (const { state } of before.fold.agents.values()) expectSettled(state);
  for (const [id, page] of seen?.pages ?? []) expectStillThere(page, await pageOf(before, id));
  if (random() < 0.5) return;
  const { log } = await open(dir);
  expectSameAgents(await live(log), before, 'loaded after a crash');
  await log.close();
  expectSameAgents(await folded(dir), before, 'read after that');
}

describe(`${HISTORIES} random histories`, () => {
  const chunks = Array.from({ length: HISTORIES / TOGETHER }, (_, chunk) => chunk * TOGETHER);
  it.each(chunks)('from %i on', async (first) => {
    for (let seed = first + 1; seed <= first + TOGETHER; seed += AT_ONCE) {
      const seeds = Array.from({ length: AT_ONCE }, (_, at) => seed + at);
      await Promise.all(seeds.map((one) => check(one).catch((error: unknown) => failed(one, error))));
    }
  });
});

function failed(seed: number, error: unknown): never {
  throw new Error(`history ${seed}: ${String(error)}`, { cause: error });
}
