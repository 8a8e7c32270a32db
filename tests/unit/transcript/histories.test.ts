/**
 * However a transcript is read, it is the same: followed from any moment, read of a loaded session, folded from its file,
 * or from a part of its file. Over random histories.
 */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#server/clock.ts';
import { features } from '#server/features/features.ts';
import { foldJournal } from '#server/journal/cold-fold.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { event, internal } from '#server/journal/records.ts';
import { transcriptProjection, type TranscriptFold } from '#server/transcript/fold.ts';
import { createLiveTranscripts, type OpenTranscripts } from '#server/transcript/live.ts';
import { createMapper } from '#server/transcript/mapper.ts';
import { createOpJournals } from '#server/transcript/op-journal.ts';
import { applyOps } from '#server/transcript/reducer/apply.ts';
import { emptyTranscript, type HeldState } from '#server/transcript/reducer/state.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { createDriver, seeded, type Random } from '#support/session-histories.ts';
import { openLog, SESSION_ID, temporaryFolder } from '#support/session-logs.ts';
import { canonical, listed } from '#support/transcripts.ts';
import { applyLawfully, expectLawful, expectSettled } from './lawful.ts';

const HISTORIES = 2000;
const TOGETHER = 100;
/** While one waits for the disk others go on. */
const AT_ONCE = 10;
const LINES = 24;

const mapper = createMapper(features.flatMap((feature) => feature.transcript ?? []));
const projection = transcriptProjection(mapper);
const projections = [...features.flatMap((feature) => feature.projection ?? []), projection];

let root: string;
let remove: () => Promise<void>;
beforeEach(async () => ({ path: root, remove } = await temporaryFolder()));
afterEach(() => remove());

const live = (log: SessionLog) =>
  createLiveTranscripts({ log, mapper, journals: createOpJournals(), clock: systemClock, untold: () => [] });

/** As a reader of the file sees it: what runs is running while its server lives, else it is settled. */
async function folded(dir: string): Promise<TranscriptFold> {
  const { state } = await foldJournal({ dir, sessionId: SESSION_ID, holder: leaseHolder(), projections });
  return projection.of(state.features);
}

/** `isDeepStrictEqual` is fast, `toEqual` says where they differ. */
function expectSame(one: unknown, other: unknown, what: string): void {
  if (isDeepStrictEqual(one, other)) return;
  expect(one).toEqual(other);
  throw new Error(`${what}: members that are undefined`);
}

function expectSameAgents(one: TranscriptFold, other: TranscriptFold, what: string): void {
  expectSame([...one.roster.values()], [...other.roster.values()], `${what}: roster`);
  for (const id of new Set([...one.agents.keys(), ...other.agents.keys()])) {
    expectSame(canonicalOf(one, id), canonicalOf(other, id), `${what}: ${id}`);
  }
}

const stateOf = (fold: TranscriptFold, id: string): HeldState => fold.agents.get(id)?.state ?? emptyTranscript();
const canonicalOf = (fold: TranscriptFold, id: string) => canonical(stateOf(fold, id));

interface Follower {
  id: string;
  seq: number;
  state: HeldState;
}

/** A client that reads a page now. */
function joinNow(opened: OpenTranscripts, id: string): Follower {
  const seq = opened.seq(id);
  const { items, meta, ...entities } = stateOf(opened.fold, id);
  const snapshot = {
    items,
    meta,
    tasks: [...entities.tasks.values()],
    interactions: [...entities.interactions.values()],
    attachments: [...entities.attachments.values()],
    todos: [...entities.todos.values()],
    prompts: [...entities.prompts.values()],
  };
  const state: HeldState = emptyTranscript();
  applyOps(state, [{ op: 'reset', agentId: id, snapshot }]);
  return { id, seq, state };
}

/** Takes what it has missed; afterwards it has what a page read now has. */
function catchUp(opened: OpenTranscripts, follower: Follower): void {
  const { id, state } = follower;
  const seq = opened.seq(id);
  const batches = opened.since(id, follower.seq);
  expect(batches).toHaveLength(seq - follower.seq);
  for (const batch of batches ?? []) {
    follower.seq += 1;
    if (batch.seq !== follower.seq || batch.ops.length === 0) throw new Error('a hole, or an empty batch');
    applyLawfully(state, batch.ops);
  }
  expectSame(listed(state), listed(stateOf(opened.fold, id)), `followed: ${id}`);
}

/** One random session, read in every way. */
async function check(seed: number): Promise<void> {
  const random = seeded(seed * 7919);
  const dir = join(root, `session-${seed}`);
  const { log } = await openLog(dir);
  await log.claim();
  log.append([
    event('main', 'agent.created', {}, { kind: 'main' }),
    internal('main', 'agent.config', { model: 'm1', permission: 'manual', maxContextTokens: 1000 }),
  ]);
  const driver = createDriver(log, seeded(seed));
  const openAt = random() < 0.5 ? 0 : Math.floor(random() * LINES);
  let opened: OpenTranscripts | undefined;
  const followers: Follower[] = [];
  for (let line = 0; line < LINES; line += 1) {
    if (line === openAt) {
      opened = await live(log).open();
      followers.push(joinNow(opened, 'main'));
    } else if (opened && random() < 0.15) followers.push(joinNow(opened, random() < 0.7 ? 'main' : 'agent-0'));
    await driver.step();
    const one = followers[Math.floor(random() * followers.length)];
    if (opened && one && random() < 0.3) catchUp(opened, one);
  }
  opened ??= await live(log).open();
  for (const follower of followers) catchUp(opened, follower);
  for (const { state } of opened.fold.agents.values()) expectLawful(state);
  expectSameAgents(opened.fold, await folded(dir), 'live and folded');
  await checkCut(dir, random, seed);
  await log.close();
}

/** Cut off by a crash behind any line or inside it: a reader, a load and a reader after the load see the same. */
async function checkCut(dir: string, random: Random, seed: number): Promise<void> {
  const copy = join(root, `cut-${seed}`);
  await cp(dir, copy, { recursive: true, filter: (path) => !/lock/.test(path) });
  const journal = join(copy, 'journal.ndjson');
  const text = await readFile(journal);
  const header = text.indexOf(10) + 1;
  await writeFile(journal, text.subarray(0, header + Math.floor(random() * (text.length - header + 1))));
  const before = await folded(copy);
  for (const { state } of before.agents.values()) {
    expectLawful(state);
    expectSettled(state);
  }
  const { log } = await openLog(copy);
  const opened = await live(log).open();
  expectSameAgents(opened.fold, before, 'loaded after a crash');
  await log.close();
  expectSameAgents(await folded(copy), before, 'read after that');
}

describe(`${HISTORIES} random histories`, () => {
  const chunks = Array.from({ length: HISTORIES / TOGETHER }, (_, chunk) => chunk * TOGETHER);
  it.each(chunks)('from %i on', { timeout: 120_000 }, async (first) => {
    for (let seed = first + 1; seed <= first + TOGETHER; seed += AT_ONCE) {
      const seeds = Array.from({ length: AT_ONCE }, (_, at) => seed + at);
      await Promise.all(seeds.map((one) => check(one).catch((error: unknown) => failed(one, error))));
    }
  });
});

function failed(seed: number, error: unknown): never {
  throw new Error(`history ${seed}: ${String(error)}`, { cause: error });
}
