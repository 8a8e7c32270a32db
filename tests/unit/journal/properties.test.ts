/** Properties of every journal, over random histories. */
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { features } from '#server/features/features.ts';
import { planOf, plans } from '#server/features/plan-mode/projection.ts';
import { todoListOf, todoLists } from '#server/features/todo-list/projection.ts';
import { startFeatures } from '#server/journal/projections/feature-projection.ts';
import { createBlobStore } from '#server/journal/blobs.ts';
import { applyBatch, type LogState } from '#server/journal/fold.ts';
import { contextSize } from '#server/journal/context-size.ts';
import { contextProjection, readContext, requestMessages } from '#server/journal/projections/context.ts';
import { internal, event, type CompleteDraft, type JournalRecord } from '#server/journal/records.ts';
import { replayCold, readPosition } from '#server/journal/replay.ts';
import { isBusy } from '#server/journal/projections/activity.ts';
import { settleCrash } from '#server/journal/crash-recovery.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { emptyView, newHeader, readOn } from '#server/journal/view.ts';
import { seeded } from '#support/random.ts';
import { drive } from '#support/session-histories.ts';
import { openLog, SESSION_ID, temporaryFolder, type OpenedLog } from '#support/session-logs.ts';

const SEEDS = [1, 2, 3, 4];
const LINES = 100;

interface Raw {
  t: number;
  r: (Record<string, unknown> & { type: string; agent: string })[];
}

let root: string;
let remove: () => Promise<void>;
beforeEach(async () => ({ path: root, remove } = await temporaryFolder()));
afterEach(() => remove());

async function foldFolder(dir: string, blobs = createBlobStore(dir)): Promise<LogState> {
  const view = emptyView(newHeader(SESSION_ID, 0), folds);
  await readOn(view, dir, blobs);
  return view.state;
}

/** The fold of a folder, settled without writing to disk. */
async function settledFold(dir: string): Promise<LogState> {
  const state = await foldFolder(dir);
  const records = settleCrash(state).map(({ unsent: _unsent, ...record }: CompleteDraft): JournalRecord => record);
  if (records.length > 0) applyBatch(state, { t: state.lastTime, records });
  return state;
}

const journal = (dir: string) => join(dir, 'journal.ndjson');
const readJournal = async (dir: string) => (await readFile(journal(dir), 'utf8')).trimEnd().split('\n');
const batches = async (dir: string): Promise<Raw[]> =>
  (await readJournal(dir)).slice(1).map((line) => JSON.parse(line));

/** The state without the positions of records in the file. */
function projections(state: LogState) {
  const { messages, ...rest } = state;
  const history = messages.history.map(({ id, role, t }) => ({ id, role, t }));
  return { ...rest, messages: { ...messages, history } };
}

/** The projections of all features, as in `openLog`. */
const folds = features.flatMap((feature) => feature.projection ?? []);

/** Copies a folder with its lines changed. */
async function variant(dir: string, name: string, change: (batch: Raw) => Raw): Promise<string> {
  const copy = join(root, name);
  await cp(dir, copy, { recursive: true });
  const [header, ...lines] = await readJournal(dir);
  const changed = lines.map((line) => JSON.stringify(change(JSON.parse(line))));
  await writeFile(journal(copy), [header, ...changed, ''].join('\n'));
  return copy;
}

describe.each(SEEDS)('a random history (seed %i)', (seed) => {
  let dir: string;
  beforeEach(() => {
    dir = join(root, 'session');
  });

  it('1: the live state equals the fold of the file after every line', async () => {
    const { log } = await openLog(dir);
    await drive(log, seed, LINES / 2, async () => {
      expect(await foldFolder(dir)).toEqual(log.state);
    });
    await log.close();
  });

  it('2, 3: cut anywhere it loads, settled, and settling again adds no records', async () => {
    const { log } = await openLog(dir);
    await drive(log, seed, 25);
    const bytes = await readFile(journal(dir));
    const random = seeded(seed);
    let at = bytes.indexOf(10) + 1;
    for (let cut = 0; at > 0 && at <= bytes.length; cut += 1) {
      const next = bytes.indexOf(10, at) + 1;
      const inside = next > 0 ? at + 1 + Math.floor(random() * (next - at - 1)) : at;
      for (const [name, length] of [
        ['whole', at],
        ['torn', inside],
      ] as const) {
        const copy = join(root, `${name}-${cut}`);
        await cp(dir, copy, { recursive: true, filter: (path) => !/lock|journal\.ndjson/.test(path) });
        await writeFile(journal(copy), bytes.subarray(0, length));
        const expected = await settledFold(copy);
        const opened = await openLog(copy);
        expect(projections(opened.log.state)).toEqual(projections(expected));
        expect(settleCrash(opened.log.state)).toEqual([]);
        expect(isBusy(opened.log.state.activity)).toBe(false);
        await opened.log.close();
        const again = await readFile(journal(copy), 'utf8');
        const second = await openLog(copy);
        expect(projections(second.log.state)).toEqual(projections(expected));
        expect(second.frames).toEqual([]);
        await second.log.close();
        expect(await readFile(journal(copy), 'utf8')).toBe(again);
      }
      at = next;
    }
    await log.close();
  });

  it('4: numbers have no gap and a replay repeats the sent frames', async () => {
    const { log, durable } = await openLog(dir);
    await drive(log, seed, LINES);
    await log.close();
    const seqs = (await batches(dir)).flatMap((batch) => batch.r.flatMap((record) => record.seq ?? []));
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(await readPosition(dir)).toEqual({ seq: seqs.length, epoch: log.epoch });
    for (const after of [0, 1, Math.floor(seqs.length / 2), seqs.length - 1, seqs.length]) {
      const live: string[] = [];
      for await (const text of log.replay(after, seqs.length)) live.push(text);
      expect(live).toEqual(durable().slice(after));
      const cold: string[] = [];
      for await (const text of replayCold(dir, after, seqs.length - 1)) cold.push(text);
      expect(cold).toEqual(durable().slice(after, seqs.length - 1));
    }
  });

  it('5, 6, 7: unfolded records, unknown ones and numbers change no projection', async () => {
    const { log } = await openLog(dir);
    await drive(log, seed, LINES);
    await log.close();
    const state = projections(await foldFolder(dir));
    const unfolded = /^(session\.(opened|closed)|background\.|permission\.|mcp\.server|tool\.list|future\.)/;
    const bare = await variant(dir, 'bare', (batch) => ({
      ...batch,
      r: batch.r.filter((record) => !unfolded.test(record.type)),
    }));
    const grown = await variant(dir, 'grown', (batch) => ({
      ...batch,
      later: true,
      r: batch.r.flatMap((record) => [
        { agent: 'agent-99', type: 'future.thing', turnId: 9, deep: { $other: 1 } },
        { ...record, laterMember: { a: 1 } },
      ]),
    }));
    const numberless = await variant(dir, 'numberless', (batch) => ({
      ...batch,
      r: batch.r.map(({ seq: _seq, ...record }) => record),
    }));
    expect(projections(await foldFolder(bare))).toEqual(state);
    expect(projections(await foldFolder(numberless))).toEqual(state);
    // Members of messages and parts are content; only unknown members of records are ignored.
    const rough = (value: unknown) =>
      JSON.parse(JSON.stringify(plainState(value), (key, member) => (key === 'laterMember' ? undefined : member)));
    expect(rough(projections(await foldFolder(grown)))).toEqual(rough(state));
  });

  it('9, 10, 14: everything ends a single time, splices stay inside, ids are unique', async () => {
    const { log } = await openLog(dir);
    await drive(log, seed, LINES);
    const crashed = join(root, 'crashed');
    await cp(dir, crashed, { recursive: true, filter: (path) => !path.includes('lock') });
    const opened = await openLog(crashed);
    await opened.log.close();
    await log.close();
    const records = (await batches(crashed)).flatMap((batch) => batch.r);
    const all = (type: string, key: string) =>
      records.flatMap((record) => (record.type === type ? `${record.agent} ${String(record[key])}` : []));
    const calls = records.flatMap((record) =>
      record.type === 'step.response' && Array.isArray(record.calls)
        ? record.calls.map((call: { id: string }) => `${record.agent} ${call.id}`)
        : [],
    );
    expect(all('tool.result', 'toolCallId').toSorted()).toEqual(calls.toSorted());
    expect(new Set(calls).size).toBe(calls.length);
    const started = all('turn.started', 'turnId');
    expect(all('turn.ended', 'turnId').toSorted()).toEqual(started.toSorted());
    const numbers = [...started, ...all('turn.skipped', 'turnId')];
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(all('event.approval.resolved', 'approval_id')).toEqual(all('event.approval.requested', 'approval_id'));
    const tasks = (type: string) =>
      records.flatMap((record) => (record.type === type ? [(record.info as { taskId: string }).taskId] : []));
    expect(tasks('task.terminated').toSorted()).toEqual(tasks('task.started').toSorted());
    expect(all('subagent.spawned', 'subagentId').toSorted()).toEqual(
      [...all('subagent.completed', 'subagentId'), ...all('subagent.failed', 'subagentId')].toSorted(),
    );
    await expectSplicesInside(crashed);
  });

  it('10: the request built after a reload equals the one built without', async () => {
    const { log } = await openLog(dir);
    await drive(log, seed, LINES);
    const live = JSON.stringify(await log.load(requestMessages(readContext(log.state.context, 'main'))));
    await log.close();
    const blobs = createBlobStore(dir);
    const reloaded = readContext((await foldFolder(dir, blobs)).context, 'main');
    expect(JSON.stringify(await blobs.load(requestMessages(reloaded)))).toBe(live);
    expect(contextSize(reloaded)).toBe(contextSize(readContext(log.state.context, 'main')));
  });

  it('15: the fold depends on no outside input, and usage is the sum of its records', async () => {
    const { log } = await openLog(dir);
    await drive(log, seed, LINES);
    await log.close();
    const here = await foldFolder(dir);
    const zone = process.env.TZ;
    process.env.TZ = 'Pacific/Kiritimati';
    try {
      expect(await foldFolder(dir)).toEqual(here);
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
    const spent = (await batches(dir))
      .flatMap((batch) => batch.r)
      .filter((record) => record.type === 'step.response' || record.type === 'usage.recorded')
      .reduce((sum, record) => sum + ((record.usage as { output: number } | undefined)?.output ?? 0), 0);
    const booked = [...here.usage.values()].reduce((sum, { total }) => sum + total.output, 0);
    expect(booked).toBe(spent);
  });
});

/** Maps and sets as arrays, for a comparison by text. */
function plainState(value: unknown): unknown {
  if (value instanceof Map) return [...value].map(plainState);
  if (value instanceof Set) return [...value];
  if (Array.isArray(value)) return value.map(plainState);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plainState(member)]));
}

async function expectSplicesInside(dir: string): Promise<void> {
  const view = emptyView(newHeader(SESSION_ID, 0), folds);
  const contexts = contextProjection.initial(startFeatures([], view.header));
  let splices = 0;
  await readOn(view, dir, createBlobStore(dir), ({ records }) => {
    for (const record of records) {
      if (record.type === 'context.spliced') {
        splices += 1;
        const { length } = readContext(contexts, record.x?.copyOf ?? record.agent).entries;
        expect(record.start + record.deleteCount).toBeLessThanOrEqual(length);
        if (record.deleteCount === 0) expect(record.start).toBe(length);
      }
      contextProjection.apply(contexts, record);
    }
  });
  expect(splices).toBeGreaterThan(0);
}

const MAIN = 'main';
const user = (id: string): ContextMessage => ({
  role: 'user',
  content: [{ type: 'text', text: id }],
  toolCalls: [],
  origin: { kind: 'user' },
  id,
});
const notice: ContextMessage = {
  role: 'user',
  content: [{ type: 'text', text: 'done' }],
  toolCalls: [],
  origin: { kind: 'task', taskId: 'bash-1', status: 'completed', notificationId: 'task:bash-1:completed' },
};

describe('a line as a whole', () => {
  it('8: a listener receives all of it or none', async () => {
    const undoing: unknown[] = [];
    const opened = await openLog(join(root, 'session'), {
      sink: {
        publish: () => undoing.push([...opened.log.state.context.agents.values()].map((context) => context.undoing)),
      },
    });
    const { log } = opened;
    await log.claim();
    const splice = { start: 0, deleteCount: 0, tokens: 1 };
    log.append([event(MAIN, 'context.spliced', { ...splice, messages: [user('msg_1')] }, { cause: 'input' })]);
    log.append([
      event(MAIN, 'context.spliced', { ...splice, deleteCount: 1, messages: [] }, { cause: 'undo' }),
      event(MAIN, 'context.undone', { turns: 1 }),
    ]);
    expect(undoing).toEqual([[undefined], [undefined], [undefined]]);
    await log.close();
  });
});

describe('12: undo', () => {
  /** The state that an undo restores, without what it leaves (counters, usage, goal, tasks). */
  const restored = ({ log }: OpenedLog) => {
    const { entries, delivered } = readContext(log.state.context, MAIN);
    const plan = planOf(plans.of(log.state.features), MAIN);
    const todos = todoListOf(todoLists.of(log.state.features), MAIN);
    const { history } = projections(log.state).messages;
    return structuredClone({ entries, todos, plan, delivered, history });
  };

  async function undoTo(opened: OpenedLog, start: number): Promise<void> {
    const { length } = readContext(opened.log.state.context, MAIN).entries;
    opened.log.append([
      event(
        MAIN,
        'context.spliced',
        { start, deleteCount: length - start, messages: [], tokens: 1 },
        { cause: 'undo' },
      ),
      event(MAIN, 'context.undone', { turns: 1 }),
    ]);
  }

  async function add(opened: OpenedLog, ...messages: ContextMessage[]): Promise<void> {
    const start = readContext(opened.log.state.context, MAIN).entries.length;
    opened.log.append([
      event(MAIN, 'context.spliced', { start, deleteCount: 0, messages, tokens: 1 }, { cause: 'input' }),
    ]);
  }

  /** A step that writes a todo list, in the running turn. */
  async function todoStep(opened: OpenedLog, turnId: number, title: string): Promise<void> {
    const stepId = `${title}-${turnId}`;
    const calls = [{ id: stepId, name: 'TodoList', arguments: '{}' }];
    const step = { turnId, step: 1, stepId };
    opened.log.append([event(MAIN, 'turn.step.started', step)]);
    opened.log.append([internal(MAIN, 'step.response', { ...step, parts: [], calls, model: 'm1' })]);
    const todos = [{ title, status: 'pending' }];
    opened.log.append([event(MAIN, 'tool.result', { turnId, toolCallId: stepId, output: 'ok' }, { todos })]);
    opened.log.append([event(MAIN, 'turn.step.completed', { ...step, finishReason: 'tool_use' })]);
  }

  let opened: OpenedLog;
  beforeEach(async () => {
    opened = await openLog(join(root, 'session'));
    await opened.log.claim();
    await add(opened, user('msg_1'));
    await todoStep(opened, 0, 'first');
  });
  afterEach(() => opened.log.close());

  it('reverts a turn with its todos, plan and notifications', async () => {
    const before = restored(opened);
    const { length } = before.entries;
    await add(opened, user('msg_2'));
    await add(opened, notice);
    opened.log.append([internal(MAIN, 'plan.entered', { id: 'red-fox', trigger: 'tool' })]);
    await todoStep(opened, 1, 'second');
    expect(restored(opened)).not.toEqual(before);
    await undoTo(opened, length);
    expect(restored(opened)).toEqual(before);
  });

  it('reverts a steered message and preserves earlier parts of the turn', async () => {
    await add(opened, user('msg_2'));
    await todoStep(opened, 1, 'second');
    const before = restored(opened);
    await add(opened, user('msg_3'));
    await todoStep(opened, 1, 'third');
    await undoTo(opened, before.entries.length);
    expect(restored(opened)).toEqual(before);
  });

  it('reverts a blocked prompt and the hook message after it', async () => {
    const before = restored(opened);
    const hook: ContextMessage = {
      ...user(''),
      origin: { kind: 'hook_result', event: 'UserPromptSubmit', blocked: true },
    };
    await add(opened, user('msg_2'), hook);
    await undoTo(opened, before.entries.length);
    expect(restored(opened)).toEqual(before);
  });
});
