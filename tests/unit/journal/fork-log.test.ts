/** The journal of a copy: the same conversation under its own id and epoch; running operations have ended. */
import { appendFile, cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { features } from '#server/features/features.ts';
import { goalOf } from '#server/features/goals/goals.ts';
import { planOf, plans } from '#server/features/plan-mode/projection.ts';
import { todoListOf, todoLists } from '#server/features/todo-list/projection.ts';
import { createBlobStore } from '#server/journal/blobs.ts';
import { foldJournal } from '#server/journal/cold-fold.ts';
import type { CopiedJournal } from '#server/journal/copy-lines.ts';
import { becomeCopy, copyState } from '#server/journal/copy-state.ts';
import { settleCrash } from '#server/journal/crash-recovery.ts';
import { applyBatch, type LogState } from '#server/journal/fold.ts';
import { forkSessionLog } from '#server/journal/fork-log.ts';
import { isBusy } from '#server/journal/projections/activity.ts';
import { event, internal, recordOf, type JournalRecord } from '#server/journal/records.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { blobTexts } from '#server/journal/texts.ts';
import { emptyView, newHeader, readOn } from '#server/journal/view.ts';
import { transcriptProjection } from '#server/transcript/fold.ts';
import { createMapper } from '#server/transcript/mapper.ts';
import type { Session } from '#schema/rest/session.ts';
import { zeroUsage } from '#server/sessions/index/session-header.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { seeded } from '#support/random.ts';
import { createDriver } from '#support/session-histories.ts';
import { logOptions, openLog, SESSION_ID, temporaryFolder } from '#support/session-logs.ts';
import { watchSyncs } from '#support/watch-syncs.ts';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];
const LINES = 60;

const transcripts = transcriptProjection(createMapper(features));
const ofFeatures = features.flatMap((feature) => feature.projection ?? []);
const projections = [...ofFeatures, transcripts];

let root: string;
let remove: () => Promise<void>;
beforeEach(async () => ({ path: root, remove } = await temporaryFolder()));
afterEach(() => remove());

const AT = '2026-01-01T00:00:00.000Z';
const described = (id: string): Session => ({
  id,
  workspace_id: 'wd_1',
  title: `Copy ${id}`,
  created_at: AT,
  updated_at: AT,
  archived: false,
  busy: false,
  main_turn_active: false,
  pending_interaction: 'none',
  metadata: { cwd: '/p' },
  agent_config: { model: '' },
  usage: zeroUsage,
  permission_rules: [],
  message_count: 0,
  last_seq: 0,
});

/** Copies the folder `from` to one with that name; long texts are linked into it, as for a session. */
async function fork(from: string, sourceId: string, name: string, known?: Pick<CopiedJournal, 'end' | 'known'>) {
  const dir = join(root, name);
  const stage = join(root, `stage-${name}`);
  await mkdir(stage);
  await cp(join(from, 'blobs'), join(stage, 'blobs'), { recursive: true }).catch(() => undefined);
  const { options, told } = logOptions(dir, { sessionId: name, projections: known ? ofFeatures : projections });
  const begin = async () => ({ session: described(name), titleKind: 'replaceable' as const });
  const source = { dir: from, sessionId: sourceId, ...known };
  return { log: await forkSessionLog({ ...options, source, stage, kind: 'fork', begin }), ...told };
}

const cold = async (dir: string, sessionId: string) =>
  (await foldJournal({ dir, sessionId, holder: leaseHolder(), projections })).state;

/** The part of the copy's state that equals the original's, without the records of its own settling. */
function shared(state: LogState) {
  const agents = [...state.context.agents].map(
    ([id, { entries, anchors, delivered, files, agentsMd, rules, config }]) => {
      const messages = entries.flatMap(({ message }) => (isForkNote(message.origin) ? [] : [message]));
      return [id, { messages, anchors, delivered, files, agentsMd, rules, config }];
    },
  );
  const transcript = [...transcripts.of(state.features).agents].map(
    ([
      id,
      {
        state: { items, todos, meta },
      },
    ]) => {
      const turns = items.flatMap((item) =>
        item.kind === 'turn' ? [{ ...item, endedAt: '', steps: item.steps.length }] : [],
      );
      return [id, { turns, todos, modes: meta.modes }];
    },
  );
  return {
    agents,
    transcript,
    todos: todoListOf(todoLists.of(state.features), 'main'),
    plan: planOf(plans.of(state.features), 'main'),
    usage: state.usage,
    counters: state.counters,
    used: [...(state.prompts.get('main')?.used ?? [])],
  };
}

const isForkNote = (origin: { kind: string; variant?: string } | undefined) =>
  origin?.kind === 'injection' && origin.variant === 'goal_fork_cleared';

it.each(SEEDS)('has the same fold as the original, and so does a copy of the copy (seed %i)', async (seed) => {
  const dir = join(root, 'original');
  const { log } = await openLog(dir, { projections });
  await log.claim();
  log.append([event('main', 'agent.created', {}, { kind: 'main' })]);
  const driver = createDriver(log, seeded(seed));
  for (let line = 0; line < LINES; line += 1) await driver.step();
  const before = await readFile(join(dir, 'journal.ndjson'), 'utf8');
  const goal = goalOf(log.state, 0);

  const copy = await fork(dir, SESSION_ID, 'session_copy');
  const settled = settledState(log);
  expect(shared(copy.log.state)).toEqual(shared(settled));
  expect(isBusy(copy.log.state.activity)).toBe(false);
  expect(settleCrash(copy.log.state)).toEqual([]);
  expect(goalOf(copy.log.state, 0)).toBeNull();
  const last = copy.log.state.context.agents.get('main')?.entries.at(-1)?.message.origin;
  expect(isForkNote(last)).toBe(goal !== null);
  expect(copy.durable().map((text) => JSON.parse(text))).toMatchObject([{ seq: 1, type: 'event.session.created' }]);
  expect(await readFile(join(dir, 'journal.ndjson'), 'utf8')).toBe(before);

  const again = await fork(copy.log.dir, 'session_copy', 'session_again');
  expect(shared(again.log.state)).toEqual(shared(copy.log.state));
  expect(again.log.state.status.ancestors).toEqual([SESSION_ID, 'session_copy']);
  for (const { log: made } of [copy, again]) {
    const read = await cold(made.dir, made.sessionId);
    expect(shared(read)).toEqual(shared(made.state));
    expect(read.index).toEqual(made.state.index);
    expect(read.messages.history).toEqual(made.state.messages.history);
    expect((await made.readMessages([0]))[0]?.session_id).toBe(made.sessionId);
  }
  expect(copy.log.epoch).not.toBe(log.epoch);
  await log.close();
});

it.each(SEEDS)(
  'equals the fold of its lines if the fold was passed, and shares no state with it (seed %i)',
  async (seed) => {
    const { log } = await openLog(join(root, 'original'), { projections: ofFeatures });
    await log.claim();
    log.append([event('main', 'agent.created', {}, { kind: 'main' })]);
    const driver = createDriver(log, seeded(seed));
    for (let round = 0; round < 3; round += 1) {
      for (let line = 0; line < LINES / 3; line += 1) await driver.step();
      const known = { state: copyState(log.state), holdsTexts: log.holdsTexts };
      expect(known.state).toEqual(log.state);
      const { length: end } = log;
      await driver.step();
      const { log: copy } = await fork(log.dir, SESSION_ID, `session_${round}`, { end, known });
      expect(copy.state).toEqual(await folded(copy));
      await copy.claim();
      const others = createDriver(copy, seeded(seed + round), 1000);
      for (let line = 0; line < 10; line += 1) await others.step();
      expect(copy.state).toEqual(await folded(copy));
      expect(log.state).toEqual(await folded(log));
      const { entries = [] } = copy.state.context.agents.get('main') ?? {};
      expect(blobTexts(await copy.load(entries))).toEqual([]);
      await copy.close();
    }
    await log.close();
  },
);

/** The fold of the lines in its file. */
async function folded({ dir, sessionId }: SessionLog): Promise<LogState> {
  const view = emptyView(newHeader(sessionId, 0), ofFeatures);
  await readOn(view, dir, createBlobStore(dir));
  return view.state;
}

/** The original settled as a load would settle it; mutates the log's state. */
function settledState({ state }: SessionLog): LogState {
  const records = settleCrash(state).map((draft): JournalRecord => recordOf(draft, undefined));
  if (records.length > 0) applyBatch(state, { t: state.lastTime, records });
  return state;
}

it.each([
  ['a few bytes', ''],
  ['more than is read at a time', 'x'.repeat(150_000)],
])('omits torn lines of %s, and continues with its own numbers', async (_size, torn) => {
  const dir = join(root, 'original');
  const { log } = await openLog(dir);
  await log.claim();
  log.append([event('main', 'agent.created', {}, { kind: 'main' }), internal('main', 'agent.config', { model: 'm1' })]);
  await log.close();
  await appendFile(join(dir, 'journal.ndjson'), `{"t":1,"r":[{"ag${torn}`);
  const copy = await fork(dir, SESSION_ID, 'session_copy');
  const [header = '', ...lines] = (await readFile(join(copy.dir, 'journal.ndjson'), 'utf8')).trimEnd().split('\n');
  const { history, forked_from } = JSON.parse(header);
  expect(forked_from).toEqual({ session_id: SESSION_ID, epoch: log.epoch, seq: 1 });
  expect(history).toBe(Buffer.byteLength(`${lines.slice(0, -1).join('\n')}\n`));
  await copy.log.claim();
  copy.log.append([event('main', 'warning', { message: 'own', code: 'c' })]);
  const frames = copy.durable().map((text) => JSON.parse(text));
  expect(frames.map(({ seq, type }) => [seq, type])).toEqual([
    [1, 'event.session.created'],
    [2, 'warning'],
  ]);
  const replayed: string[] = [];
  for await (const frame of copy.log.replay(0, 2)) replayed.push(frame);
  expect(replayed).toEqual(copy.durable());
  await copy.log.close();
});

it('fails where the original is damaged or newer than this server', async () => {
  const dir = join(root, 'original');
  await mkdir(dir);
  const header = { type: 'metadata', session_id: SESSION_ID, epoch: 'ep_1', created_at: 1 };
  await writeFile(
    join(dir, 'journal.ndjson'),
    `${JSON.stringify({ ...header, format: 1 })}\nno line\n{"t":1,"r":[]}\n`,
  );
  await expect(fork(dir, SESSION_ID, 'session_a')).rejects.toMatchObject({ code: 50001 });
  await writeFile(join(dir, 'journal.ndjson'), `${JSON.stringify({ ...header, format: 2 })}\n`);
  await expect(fork(dir, SESSION_ID, 'session_b')).rejects.toMatchObject({ code: 50003 });
});

it('is on the disk before it is reported: its journal, its folder, its name', async () => {
  const { log } = await openLog(join(root, 'source'));
  await log.claim();
  log.append([event('main', 'agent.created', {}, { kind: 'main' })]);
  await log.close();
  const synced = await watchSyncs();
  const copy = await fork(log.dir, SESSION_ID, 'copy');
  const inode = async (path: string) => (await stat(path)).ino;
  const places = [join(copy.log.dir, 'journal.ndjson'), copy.log.dir, root];
  const [journal, folder, parent] = await Promise.all(places.map(inode));
  expect(synced.slice(0, 2)).toEqual([journal, folder]);
  // The sync after the rename.
  expect(synced.at(-1)).toBe(parent);
  await copy.log.close();
});

it('has the written messages at their new lines; those that are not written have none', () => {
  const header = newHeader(SESSION_ID, 0);
  const { state } = emptyView(header, []);
  const step = event('main', 'turn.step.started', { turnId: 0, step: 1, stepId: 's' });
  applyBatch(state, { t: 1, records: [recordOf(step, 2)] }, 100);
  applyBatch(state, { t: 2, records: [recordOf(step, undefined)] });
  becomeCopy(
    state,
    { ...newHeader('session_copy', 7), forked_from: { session_id: SESSION_ID, epoch: 'e', seq: 2 } },
    30,
  );
  expect(state.messages).toMatchObject({ sessionId: 'session_copy', history: [{ line: 130 }, { line: undefined }] });
  expect(state.index).toMatchObject({ createdAt: 7, forkedFrom: SESSION_ID });
});
