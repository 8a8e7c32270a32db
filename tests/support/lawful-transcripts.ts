/** Invariants of every transcript. Plain assertions, because they run some hundred thousand times. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { TokenUsage } from '#schema/engine.ts';
import type { TranscriptPage } from '#schema/rest/transcript.ts';
import type { TranscriptOp } from '#schema/rest/transcript-ops.ts';
import { applyOps } from '#server/transcript/reducer/apply.ts';
import {
  itemId,
  type StoredState,
  type StoredStep,
  type StoredTurn,
  type TranscriptState,
} from '#server/transcript/reducer/state.ts';
import { canonical, stateOfPage } from './transcripts.ts';

const turnsOf = ({ items }: StoredState): StoredTurn[] => items.filter((item) => item.kind === 'turn');
const ascending = (numbers: number[]) => numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0));
const callsOf = ({ frames }: StoredStep) => frames.filter((frame) => frame.kind === 'tool');

/** Asserts order, unique ids and pending interactions, which hold after any operations. */
export function expectWellFormed(state: StoredState): void {
  const turns = turnsOf(state);
  assert.ok(ascending(turns.map(({ ordinal }) => ordinal)));
  expectUnique(state.items.map(itemId));
  for (const { steps } of turns) {
    assert.ok(ascending(steps.map(({ ordinal }) => ordinal)));
    expectUnique(steps.map(({ stepId }) => stepId));
    for (const { frames } of steps) expectUnique(frames.map(({ frameId }) => frameId));
  }
  assert.equal(state.byId.size, state.items.length);
  for (const item of state.items) assert.equal(state.byId.get(itemId(item)), item);
  const waiting = [...state.interactions.values()].filter((one) => one.state === 'pending');
  assert.deepEqual(new Set(waiting.map(({ interactionId }) => interactionId)), state.pending);
}

const expectUnique = (ids: string[]) => assert.equal(new Set(ids).size, ids.length);

/** Asserts order, unique ids, references and final states, in a session with these agents. */
export function expectLawful(state: StoredState, agents: ReadonlySet<string>): void {
  expectWellFormed(state);
  const turns = turnsOf(state);
  const steps = turns.flatMap((turn) => turn.steps);
  const frames = steps.flatMap((step) => step.frames);
  const calls = steps.flatMap(callsOf);
  for (const ids of [steps.map(({ stepId }) => stepId), frames.map(({ frameId }) => frameId)]) expectUnique(ids);
  expectUnique(calls.map(({ toolCallId }) => toolCallId));
  for (const turn of turns.filter((one) => one.state !== 'running')) {
    assert.deepEqual(turn.usage, sumOf(turn.steps.flatMap(({ usage }) => usage ?? [])));
    assert.ok(turn.endedAt);
    for (const step of turn.steps) {
      assert.notEqual(step.state, 'running');
      assert.ok(step.endedAt);
      for (const { state: end } of callsOf(step)) assert.notEqual(end, 'running');
    }
  }
  for (const step of steps) if (step.retry) assert.equal(step.state, 'running');
  for (const frame of calls) {
    if (frame.state !== 'running') {
      assert.equal(frame.inputText, undefined);
      assert.equal(frame.progress, undefined);
    }
    if (frame.approvalId !== undefined) assert.ok(state.interactions.has(frame.approvalId));
    if (frame.todoId !== undefined) assert.ok(state.todos.has(frame.todoId), 'a list that there is not');
    for (const { agentId } of frame.agentRefs ?? []) assert.ok(agents.has(agentId));
  }
  for (const frame of frames) if ('taskId' in frame && frame.taskId) assert.ok(state.tasks.has(frame.taskId));
  for (const { agentId } of state.tasks.values()) if (agentId !== undefined) assert.ok(agents.has(agentId));
  for (const item of state.items) if (item.kind === 'taskref') assert.ok(state.tasks.has(item.taskId));
  for (const item of [...turns, ...frames.filter((frame) => frame.kind === 'text')]) {
    for (const id of item.attachmentIds ?? []) assert.ok(state.attachments.has(id));
  }
}

function sumOf(usages: TokenUsage[]): StoredTurn['usage'] {
  if (usages.length === 0) return undefined;
  const sum = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 };
  for (const { inputOther, inputCacheCreation, inputCacheRead, output } of usages) {
    sum.inputTokens += inputOther + inputCacheCreation;
    sum.cachedTokens += inputCacheRead;
    sum.outputTokens += output;
  }
  return sum;
}

/** Asserts that no turn or task runs and no interaction is pending. */
export function expectSettled(state: StoredState): void {
  assert.ok(turnsOf(state).every((turn) => turn.state !== 'running'));
  assert.equal(state.pending.size, 0);
  assert.ok([...state.tasks.values()].every((task) => task.state !== 'running'));
}

/** The settled turns, steps, calls, interactions and tasks of a page, by id. */
function endedOn(state: StoredState): Map<string, unknown> {
  const ended = new Map<string, unknown>();
  const { items, interactions, tasks } = canonical(state);
  for (const item of items) {
    if (item.kind !== 'turn' || item.state !== 'running') ended.set(itemId(item), item);
    if (item.kind !== 'turn') continue;
    for (const step of item.steps) {
      if (step.state !== 'running') ended.set(step.stepId, step);
      for (const call of callsOf(step)) if (call.state !== 'running') ended.set(call.frameId, call);
    }
  }
  for (const [id, interaction] of interactions) if (interaction.state !== 'pending') ended.set(id, interaction);
  for (const [id, task] of tasks) if (task.state !== 'running') ended.set(id, task);
  return ended;
}

const newestUndo = ({ items }: TranscriptPage) =>
  items.findLast((item) => item.kind === 'marker' && item.marker === 'undo');

/** Asserts that settled entities of a page are unchanged on a later page, unless turns were undone in between. */
export function expectStillThere(seen: TranscriptPage, later: TranscriptPage): void {
  if (!isDeepStrictEqual(newestUndo(later), newestUndo(seen))) return;
  const there = endedOn(stateOfPage(later));
  for (const [id, what] of endedOn(stateOfPage(seen))) {
    if (!isDeepStrictEqual(there.get(id), what))
      assert.deepEqual(there.get(id), what, `${id} was seen and has changed`);
  }
}

/**
 * Applies a batch and asserts its rules: settled entities do not change, a header that settles keeps its members, a
 * text sent whole equals its joined deltas, and a batch may be applied twice.
 */
export function applyLawfully(state: TranscriptState, ops: readonly TranscriptOp[]): void {
  for (const op of ops) {
    const before = targetOf(state, op);
    expectFlushed(state, op);
    assert.equal(applyOps(state, [op]).gap, false);
    const after = targetOf(state, op);
    if (before && isTerminal(before.state)) assert.equal(after?.state, before.state);
    if (before && after) for (const member of kept) if (member in before) expectKept(before, after, member);
  }
  // The caller compares with a state to which each batch was applied a single time.
  assert.equal(applyOps(state, ops).gap, false);
}

const kept = ['origin', 'prompt', 'attachmentIds', 'startedAt', 'request', 'toolCallId', 'steps', 'frames'] as const;
const isTerminal = (state: string) => state !== 'running' && state !== 'pending' && state !== 'queued';

type Target = { state: string } & { [K in (typeof kept)[number]]?: unknown };

function expectKept(before: Target, after: Target, member: (typeof kept)[number]): void {
  if (before[member] !== after[member]) assert.deepEqual(after[member], before[member], member);
}

/** A retry reverts the written text; every other upsert of a written frame repeats it unchanged. */
function expectFlushed({ byId }: TranscriptState, op: TranscriptOp): void {
  if (op.op !== 'frame.upsert' || op.frame.kind === 'tool' || op.frame.kind === 'notice' || op.frame.text === '')
    return;
  const turn = byId.get(op.turnId);
  const step = turn?.kind === 'turn' ? turn.steps.find(({ stepId }) => stepId === op.stepId) : undefined;
  const before = step?.frames.find(({ frameId }) => frameId === op.frame.frameId);
  if (before) assert.equal('text' in before && before.text, op.frame.text, 'told whole and in pieces');
}

function targetOf(state: TranscriptState, op: TranscriptOp): Target | undefined {
  switch (op.op) {
    case 'turn.upsert': {
      const turn = state.byId.get(op.turn.turnId);
      return turn?.kind === 'turn' ? turn : undefined;
    }
    case 'step.upsert': {
      const turn = state.byId.get(op.turnId);
      return turn?.kind === 'turn' ? turn.steps.find(({ stepId }) => stepId === op.step.stepId) : undefined;
    }
    case 'frame.upsert': {
      const turn = state.byId.get(op.turnId);
      const step = turn?.kind === 'turn' ? turn.steps.find(({ stepId }) => stepId === op.stepId) : undefined;
      const frame = step?.frames.find(({ frameId }) => frameId === op.frame.frameId);
      return frame?.kind === 'tool' ? frame : undefined;
    }
    case 'interaction.upsert':
      return state.interactions.get(op.interaction.interactionId);
    case 'task.upsert':
      return state.tasks.get(op.task.taskId);
    default:
      return undefined;
  }
}
