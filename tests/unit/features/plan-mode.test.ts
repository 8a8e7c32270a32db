/**
 * Plan mode on a real session: its records, its state after an undo, a compaction and a crash, and its cost for other
 * turns.
 */
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { planMode } from '#server/features/plan-mode/plan-mode.ts';
import { nextVersion, planOf, plans } from '#server/features/plan-mode/projection.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import { event, internal } from '#server/journal/records.ts';
import { defineTool, type Access, type Tool, type ToolEffects } from '#server/tools/tool.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { openAgentSession, openTalk, scriptedModel, textOf, type ModelAnswer } from '#support/agent-session.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();

let calls = 0;
const callTo = (name: string, args: object = {}): ModelAnswer => ({ calls: [{ id: `c${(calls += 1)}`, name, args }] });
const done: ModelAnswer = { text: 'Done.' };

type Options = Partial<Parameters<typeof openTalk>[0]>;

async function planning(answers: ModelAnswer[], { services, ...more }: Options = {}) {
  const script = scriptedModel(...answers);
  return {
    ...(await openTalk({ dir: folder.path, ...more, services: { ...script.services, ...services } })),
    requests: script.requests,
  };
}

const stateOf = (log: SessionLog) => planOf(plans.of(log.state.features), 'main');
const pathOf = (log: SessionLog) => join(log.dir, 'agents', 'main', 'plans', `${stateOf(log).id}.md`);

async function writePlan(log: SessionLog, text: string): Promise<void> {
  await mkdir(dirname(pathOf(log)), { recursive: true });
  await writeFile(pathOf(log), text);
}

/** Removes everything from this entry of the context on. */
function undoTo(log: SessionLog, start: number): void {
  const { length } = log.state.context.agents.get('main')?.entries ?? [];
  log.append([
    event(
      'main',
      'context.spliced',
      { start, deleteCount: length - start, messages: [], tokens: 1 },
      { cause: 'undo' },
    ),
    event('main', 'context.undone', { turns: 1 }),
  ]);
}

/** Requests approval of calls with a review, like the policy outside of auto mode. */
const asks: Options['services'] = {
  decide: async (_tool, { review }) => ({ kind: review ? 'ask' : 'approve' }),
};

it('enters and leaves on the line of the result', async () => {
  const talk = await planning([callTo('EnterPlanMode'), done, callTo('ExitPlanMode'), done]);
  await talk.turn('plan it');
  await writePlan(talk.log, 'the plan');
  await talk.turn('show it');
  const lines = await talk.lines();
  expect(lines).toContainEqual(['plan.entered', 'tool.result']);
  expect(lines).toContainEqual(['plan.left', 'tool.result']);
  expect(talk.all('plan.entered')).toEqual([]);
  await talk.close();
});

it('is entered with the main agent where the configuration says so, once and for no other agent', async () => {
  const config = { defaultPlanMode: true };
  const talk = await planning([done], { config });
  expect((await talk.lines()).find((line) => line.includes('agent.created'))).toEqual([
    'session.opened',
    'agent.created',
    'agent.config',
    'plan.entered',
  ]);
  expect(talk.reader.status().plan_mode).toBe(true);
  const { features } = talk.session.context;
  const other = Object.assign(Object.create(talk.main.context), { id: 'agent-0' });
  expect(features.flatMap((feature) => feature.onAgentCreated?.(other, {}) ?? [])).toEqual([]);
  talk.log.append([internal('main', 'plan.left', { how: 'cancel' })]);
  await talk.close();
  const again = await planning([done], { config });
  await again.turn('go');
  expect(again.reader.status().plan_mode).toBe(false);
  await again.close();
});

/** A tool of no feature, of which plan mode has only its declarations. */
const madeUp = (effects: ToolEffects, accesses: Access[] = []): Tool =>
  defineTool({
    name: 'MadeUp',
    permission: 'free',
    effects,
    description: '',
    parameters: z.object({}),
    prepare: () => ({
      accesses,
      label: 'MadeUp',
      subject: { match: 'literal' },
      run: () => Promise.resolve({ output: 'ran' }),
    }),
  });

it.each([
  { effects: 'none', runs: true },
  { effects: 'any', runs: true },
  { effects: 'any', accesses: [{ kind: 'all' }], runs: true },
  { effects: 'outside', runs: false },
  { effects: 'workspace', runs: false },
  { effects: 'workspace', accesses: [{ kind: 'all' }], runs: false },
] satisfies { effects: ToolEffects; accesses?: Access[]; runs: boolean }[])(
  'a call of a tool with the effects $effects that declares no write: it runs: $runs',
  async ({ effects, accesses, runs }) => {
    const tools = [madeUp(effects, accesses)];
    const answers = [callTo('EnterPlanMode'), callTo('MadeUp'), done];
    const talk = await planning(answers, { tools, features: [planMode] });
    await talk.turn('go');
    const refused = { isError: true, output: expect.stringContaining('Plan mode is on') };
    expect(talk.all('tool.result').at(-1)?.payload).toMatchObject(runs ? { output: 'ran' } : refused);
    await talk.close();
  },
);

describe('an undo', () => {
  it('restores the mode, its plan and the reminder; versions keep increasing, also after a load', async () => {
    const talk = await planning([done, callTo('EnterPlanMode'), done, callTo('EnterPlanMode'), done]);
    await talk.turn('hello');
    const { length } = talk.main.context.state().entries;
    await talk.turn('plan it');
    const { id } = stateOf(talk.log);
    expect(stateOf(talk.log)).toMatchObject({ active: true, lastReminder: 'on' });
    await writePlan(talk.log, 'the plan');
    const revision = { path: pathOf(talk.log), sha256: 'a', bytes: 8 };
    talk.log.append([event('main', 'plan.revision', { id: String(id), version: 1, ...revision })]);
    undoTo(talk.log, length);
    expect(stateOf(talk.log)).toMatchObject({ active: false });
    expect(stateOf(talk.log).id).toBeUndefined();
    expect(nextVersion(plans.of(talk.log.state.features), 'main', String(id))).toBe(2);
    // The file of the undone plan remains and is not used again.
    await talk.turn('plan it anew');
    expect(stateOf(talk.log).id).not.toBe(id);
    const state = structuredClone(plans.of(talk.log.state.features));
    await talk.close();
    const again = await planning([]);
    expect(plans.of(again.log.state.features)).toEqual(state);
    await again.close();
  });

  it('of the turn that left the mode resumes the plan', async () => {
    const talk = await planning([callTo('EnterPlanMode'), done, callTo('ExitPlanMode'), done]);
    await talk.turn('plan it');
    const { id } = stateOf(talk.log);
    await writePlan(talk.log, 'the plan');
    const { length } = talk.main.context.state().entries;
    await talk.turn('show it');
    expect(stateOf(talk.log).active).toBe(false);
    undoTo(talk.log, length);
    expect(stateOf(talk.log)).toMatchObject({ active: true, id, lastReminder: 'on' });
    await talk.close();
  });
});

it('is stated again after a compaction, and not at all when it had ended', async () => {
  const talk = await planning([callTo('EnterPlanMode'), done, done, done]);
  await talk.turn('plan it');
  const compact = () => {
    const { length } = talk.main.context.state().entries;
    const summary: ContextMessage = {
      role: 'user',
      content: [{ type: 'text', text: 'summary' }],
      toolCalls: [],
      origin: { kind: 'compaction_summary' },
    };
    const splice = { start: 0, deleteCount: length, messages: [summary], tokens: 1 };
    talk.log.append([event('main', 'context.spliced', splice, { cause: 'compaction', from: [null] })]);
  };
  const last = () => (talk.requests.at(-1)?.messages ?? []).map(textOf).filter((text) => text.includes('Plan mode'));
  compact();
  await talk.turn('go on');
  expect(last()).toEqual([expect.stringContaining('Plan mode is on: find out')]);
  talk.log.append([internal('main', 'plan.left', { how: 'cancel' })]);
  compact();
  await talk.turn('go on');
  expect(last()).toEqual([]);
  await talk.close();
});

it('survives a crash during its review: the review has ended, the call was never run, the mode is on', async () => {
  const talk = await planning([callTo('EnterPlanMode'), done, callTo('ExitPlanMode')], { services: asks });
  await talk.turn('plan it');
  await writePlan(talk.log, 'the plan');
  talk.submit('show it');
  const { payload } = await talk.nth('event.approval.requested');
  const copy = join(folder.path, 'copy', 'session');
  await cp(talk.log.dir, copy, { recursive: true, filter: (path) => !path.includes('lock') });
  talk.main.cancelTurn();
  await talk.idle();
  await talk.close();

  const after = await openAgentSession({ dir: dirname(copy) });
  expect(after.log.state.interactions.approvals.size).toBe(0);
  expect(stateOf(after.log)).toMatchObject({ active: true, lastReminder: 'on' });
  expect(after.reader.status()).toMatchObject({ plan_mode: true, busy: false });
  const resolved = after.frames.find(({ type }) => type === 'event.approval.resolved');
  expect(resolved?.payload).toMatchObject({ approval_id: payload.approval_id, decision: 'cancelled' });
  expect(after.frames.some(({ type }) => type === 'tool.result')).toBe(false);
  const result = after.log.state.context.agents.get('main')?.entries.findLast(({ message }) => message.role === 'tool');
  expect(result?.message).toMatchObject({ isError: true, toolCallId: payload.tool_call_id });
  expect(nextVersion(plans.of(after.log.state.features), 'main', String(stateOf(after.log).id))).toBe(2);
  await after.log.close();
});

describe('a call by what its tool and the call declare', () => {
  const runs = undefined;
  const planFileOnly = expect.stringContaining('takes only the plan file');
  const notAvailable = expect.stringContaining('is not available before it has ended');
  const forPlanner = expect.stringContaining('is planning');
  it.each([
    { effects: 'none', write: undefined, planner: runs, worker: runs },
    { effects: 'any', write: undefined, planner: runs, worker: runs },
    { effects: 'workspace', write: undefined, planner: planFileOnly, worker: forPlanner },
    { effects: 'outside', write: undefined, planner: notAvailable, worker: forPlanner },
    { effects: 'none', write: 'another file', planner: planFileOnly, worker: forPlanner },
    { effects: 'any', write: 'another file', planner: planFileOnly, worker: forPlanner },
    { effects: 'workspace', write: 'another file', planner: planFileOnly, worker: forPlanner },
    { effects: 'outside', write: 'another file', planner: notAvailable, worker: forPlanner },
    { effects: 'none', write: 'the plan', planner: runs, worker: forPlanner },
    { effects: 'any', write: 'the plan', planner: runs, worker: forPlanner },
    { effects: 'workspace', write: 'the plan', planner: runs, worker: forPlanner },
    { effects: 'outside', write: 'the plan', planner: notAvailable, worker: forPlanner },
  ] satisfies { effects: ToolEffects; write: string | undefined; planner: unknown; worker: unknown }[])(
    'effects $effects, a write of $write',
    async ({ effects, write, planner, worker }) => {
      const talk = await planning([callTo('EnterPlanMode'), done]);
      const live = talk.session.context.feature(planMode);
      const born = (id: string, parentAgentId: string) =>
        event(id, 'agent.created', {}, { kind: 'sub', parentAgentId });
      talk.log.append([born('agent-0', 'main'), born('agent-1', 'agent-0')]);
      const verdict = async (id: string) => {
        const agent = Object.assign(Object.create(talk.main.context), { id });
        const path = write === 'the plan' ? pathOf(talk.log) : join(folder.path, 'other.ts');
        const accesses: Access[] = write === undefined ? [] : [{ kind: 'file', path, mode: 'read-write' }];
        const tool = madeUp(effects, accesses);
        const checked = tool.check({});
        if ('problem' in checked) throw new Error(checked.problem);
        return live.beforeToolCall?.(agent, {
          call: { id: 'c', name: tool.name, arguments: '{}' },
          tool,
          prepared: await checked.prepare(agent.environment()),
          turnId: 0,
          batch: [],
          admitted: [],
          signal: AbortSignal.abort(),
        });
      };
      for (const id of ['main', 'agent-0', 'agent-1']) expect(await verdict(id)).toBeUndefined();
      await talk.turn('plan it');
      expect(await verdict('main')).toEqual(planner);
      for (const id of ['agent-0', 'agent-1']) expect(await verdict(id)).toEqual(worker);
      await talk.close();
    },
  );
});

it('requests no approval for the plan file, unless the tool may change more than it declares', async () => {
  const talk = await planning([callTo('EnterPlanMode'), done]);
  await talk.turn('plan it');
  const [step] = talk.session.context.feature(planMode).permissionSteps ?? [];
  const decide = (effects: ToolEffects, path: string, agentId = 'main') => {
    const call = { toolName: 'MadeUp', agentId, permission: 'ask', effects, subject: { match: 'literal' } } as const;
    const places = talk.main.context.environment();
    const context = Object.assign(Object.create(null), { places });
    return step?.decide({ ...call, accesses: [{ kind: 'file', path, mode: 'write' }] }, context);
  };
  expect(await decide('workspace', pathOf(talk.log))).toEqual({ kind: 'approve' });
  expect(await decide('workspace', join(folder.path, 'other.ts'))).toBeUndefined();
  expect(await decide('workspace', pathOf(talk.log), 'agent-0')).toBeUndefined();
  expect(await decide('any', pathOf(talk.log))).toBeUndefined();
  await talk.close();
});

it('adds to a turn without it neither state nor reminder nor delay', async () => {
  const talk = await planning([done]);
  await talk.turn('hello');
  expect(plans.of(talk.log.state.features).agents.size).toBe(0);
  const live = talk.session.context.feature(planMode);
  const tool = madeUp('workspace');
  const call = { id: 'c', name: tool.name, arguments: '{}' };
  const prepared = {
    accesses: [],
    label: '',
    subject: { match: 'literal' as const },
    run: async () => ({ output: '' }),
  };
  expect(
    live.beforeToolCall?.(talk.main.context, {
      call,
      tool,
      prepared,
      turnId: 0,
      batch: [],
      admitted: [],
      signal: AbortSignal.abort(),
    }),
  ).toBeUndefined();
  expect(live.reminders?.(talk.main.context)).toEqual([]);
  await talk.close();
});
