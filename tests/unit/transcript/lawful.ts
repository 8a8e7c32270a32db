/** What holds of every transcript, whatever happened in it. Plain assertions: they are made some hundred thousand times. */
import assert from 'node:assert/strict';
import { applyOps } from '#server/transcript/reducer/apply.ts';
import { itemId, type HeldOp, type HeldState, type HeldStep, type HeldTurn } from '#server/transcript/reducer/state.ts';
import { turnUsage } from '#server/transcript/agent-transcript.ts';

const turnsOf = ({ items }: HeldState): HeldTurn[] => items.filter((item) => item.kind === 'turn');
const ascending = (numbers: number[]) => numbers.every((number, at) => at === 0 || number > (numbers[at - 1] ?? 0));
const callsOf = ({ frames }: HeldStep) => frames.filter((frame) => frame.kind === 'tool');

/** Order, ids, references and ends. */
export function expectLawful(state: HeldState): void {
  const turns = turnsOf(state);
  const steps = turns.flatMap((turn) => turn.steps);
  const frames = steps.flatMap((step) => step.frames);
  const calls = steps.flatMap(callsOf);
  assert.ok(ascending(turns.map(({ ordinal }) => ordinal)));
  for (const turn of turns) assert.ok(ascending(turn.steps.map(({ ordinal }) => ordinal)));
  for (const ids of [
    state.items.map(itemId),
    steps.map(({ stepId }) => stepId),
    frames.map(({ frameId }) => frameId),
    calls.map(({ toolCallId }) => toolCallId),
  ]) {
    assert.equal(new Set(ids).size, ids.length);
  }
  assert.equal(state.byId.size, state.items.length);
  const waiting = [...state.interactions.values()].filter((one) => one.state === 'pending');
  assert.deepEqual(new Set(waiting.map(({ interactionId }) => interactionId)), state.pending);
  for (const turn of turns.filter((one) => one.state !== 'running')) {
    assert.deepEqual(turn.usage, turnUsage(turn.steps));
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
    if (frame.taskId !== undefined) assert.ok(state.tasks.has(frame.taskId));
  }
  for (const item of state.items) if (item.kind === 'taskref') assert.ok(state.tasks.has(item.taskId));
  for (const item of [...turns, ...frames.filter((frame) => frame.kind === 'text')]) {
    for (const id of item.attachmentIds ?? []) assert.ok(state.attachments.has(id));
  }
}

/** Nothing runs or waits. */
export function expectSettled(state: HeldState): void {
  assert.ok(turnsOf(state).every((turn) => turn.state !== 'running'));
  assert.equal(state.pending.size, 0);
  assert.ok([...state.tasks.values()].every((task) => task.state !== 'running'));
}

/** Applies a batch; what has ended does not change, and a header that ends keeps what it said. */
export function applyLawfully(state: HeldState, ops: readonly HeldOp[]): void {
  for (const op of ops) {
    const before = targetOf(state, op);
    assert.equal(applyOps(state, [op]).gap, false);
    const after = targetOf(state, op);
    if (before && isTerminal(before.state)) assert.equal(after?.state, before.state);
    if (before && after) for (const member of kept) assert.ok(!(member in before) || member in after);
    assert.deepEqual(applyOps(state, [op]), { changed: false, gap: false });
  }
}

const kept = ['origin', 'prompt', 'attachmentIds', 'startedAt', 'request', 'toolCallId', 'steps', 'frames'] as const;
const isTerminal = (state: string) => state !== 'running' && state !== 'pending' && state !== 'queued';

function targetOf(state: HeldState, op: HeldOp): { state: string } | undefined {
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
