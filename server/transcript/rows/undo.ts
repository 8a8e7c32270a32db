/**
 * Removes undone items from the timeline. An undo cuts at a message: items recorded from there on are removed, and a
 * turn that contains the cut retains its earlier steps.
 */
import { cutFrom, cutPointsOf } from '#server/journal/cut-points.ts';
import { isUndoAnchor } from '#server/journal/projections/context.ts';
import type { EventRecord } from '#server/journal/records.ts';
import { activationIds } from '#server/journal/typed-prompts.ts';
import { agentMeta, markerOp, openTurn, turnUsage, type AgentTranscript } from '../agent-transcript.ts';
import { itemId, type StoredItem, type StoredOp, type StoredStep, type StoredTurn } from '../reducer/state.ts';
import type { RecordMappers, TranscriptUndo } from '../transcript-rows.ts';

/** Records the number of the journal record that created an item or a step. */
export function noteMade({ madeAt, records }: AgentTranscript, op: StoredOp): void {
  const id = madeBy(op);
  if (id !== undefined && !madeAt.has(id)) madeAt.set(id, records);
}

function madeBy(op: StoredOp): string | undefined {
  switch (op.op) {
    case 'turn.upsert':
      return op.turn.turnId;
    case 'step.upsert':
      return op.step.stepId;
    case 'marker.upsert':
    case 'taskref.upsert':
      return itemId(op.item);
    default:
      return undefined;
  }
}

/** Items before the last compaction are never cut, so they are treated as older than all others. */
const numberOf = ({ madeAt }: AgentTranscript, id: string) => madeAt.get(id) ?? 0;

/** Rows of an undo; each of `parts` is a feature's part of the transcript. */
export const createUndoRows = (parts: readonly TranscriptUndo[]): RecordMappers => ({
  'context.spliced': (agent, record) => spliced(agent, record, parts),
  'context.undone': (agent, record, t) => undone(agent, record, t, parts),
  'context.cleared': forgetCuts,
});

function spliced(
  agent: AgentTranscript,
  { start, messages, tokens, x }: EventRecord<'context.spliced'>,
  parts: readonly TranscriptUndo[],
): StoredOp[] {
  if (x?.cause === 'undo') agent.undoing = { start, tokens };
  else if (x?.cause === 'compaction') forgetCuts(agent);
  else {
    const turn = x?.enters === 'turn' ? openTurn(agent) : undefined;
    const at = turn ? numberOf(agent, turn.turnId) : agent.records;
    for (const { isAnchor, ...point } of cutPointsOf(messages, start, at)) {
      agent.cutPoints.push(isAnchor ? { ...point, saved: parts.map((part) => part.checkpoint(agent.state)) } : point);
    }
    for (const { origin } of messages.filter(isUndoAnchor)) {
      for (const id of activationIds(origin)) moveActivation(agent, id, at);
    }
  }
  return [];
}

const activationOf = (payload: unknown): unknown =>
  typeof payload === 'object' && payload !== null && 'activationId' in payload ? payload.activationId : undefined;

/** Treats the marker of an activation, which precedes its prompt, as recorded with it: an undo removes both. */
function moveActivation({ state, madeAt }: AgentTranscript, activationId: string, at: number): void {
  const marker = state.items.findLast((item) => item.kind === 'marker' && activationOf(item.payload) === activationId);
  if (marker) madeAt.set(itemId(marker), at);
}

function forgetCuts(agent: AgentTranscript): StoredOp[] {
  agent.cutPoints = [];
  agent.madeAt.clear();
  agent.entered = agent.entered.filter(({ takenAt }) => takenAt === undefined);
  return [];
}

function undone(
  agent: AgentTranscript,
  { turns }: EventRecord<'context.undone'>,
  t: number,
  parts: readonly TranscriptUndo[],
): StoredOp[] {
  const { undoing } = agent;
  agent.undoing = undefined;
  const { kept, removed, cut } = cutFrom(agent.cutPoints, undoing?.start ?? Infinity);
  agent.cutPoints = kept;
  agent.entered = agent.entered
    .filter(({ at }) => at < cut)
    .map(({ takenAt, ...one }) => (takenAt === undefined || takenAt >= cut ? one : { ...one, takenAt }));
  const { saved } = removed.find((point) => point.saved) ?? {};
  const marker = markerOp(agent, 'undo', { agentId: agent.id, turns }, t);
  return [
    ...itemsBehind(agent, cut, marker),
    ...(saved ? parts.flatMap((part, index) => part.restore(agent.state, saved[index])) : []),
    ...(undoing ? agentMeta(agent, { contextTokens: undoing.tokens }) : []),
    marker,
  ];
}

/** Removes the turn with the cut and all items after it, then adds the parts from before the cut again. */
function itemsBehind(agent: AgentTranscript, cut: number, marker: StoredOp): StoredOp[] {
  const { items } = agent.state;
  const goes = (id: string) => numberOf(agent, id) >= cut;
  const at = items.findLastIndex((item) => item.kind === 'turn' && !goes(item.turnId));
  const last = items[at];
  const held = last?.kind === 'turn' && last.steps.some(({ stepId }) => goes(stepId)) ? last : undefined;
  const behind = items.slice(at + 1);
  // A turn that is added again must precede the items that followed it.
  const removed = held ? [held, ...behind] : behind.filter((item) => goes(itemId(item)));
  if (removed.length === 0) return [];
  const kept = held ? behind.filter((item) => !goes(itemId(item))) : [];
  const steps = held ? held.steps.filter(({ stepId }) => !goes(stepId)) : [];
  // A client that receives the batch twice already has the marker, and the turn must precede it.
  const again = held ? (madeBy(marker) ?? []) : [];
  return [
    { op: 'items.remove', ids: removed.map(itemId).concat(again) },
    ...(held ? beginningOf(held, steps) : []),
    ...kept.flatMap((item) => pointOps(item, held?.ordinal)),
    ...interactionsOf(agent, steps),
  ];
}

/** Returns the operations that add the turn with only these steps. */
function beginningOf(
  { error: _error, durationMs: _ms, usage: _usage, ...turn }: StoredTurn,
  steps: StoredStep[],
): StoredOp[] {
  const { turnId, startedAt } = turn;
  const { steps: _steps, endedAt: _endedAt, ...header } = turn;
  const endedAt = steps.at(-1)?.endedAt ?? startedAt;
  const usage = turnUsage(steps);
  const ended = { ...(endedAt === undefined ? {} : { endedAt }), ...(usage ? { usage } : {}) };
  return [
    { op: 'turn.upsert', turn: { ...header, state: 'completed', ...ended } },
    ...steps.flatMap(({ frames, ...step }): StoredOp[] => [
      { op: 'step.upsert', turnId, step },
      ...frames.map((frame): StoredOp => ({ op: 'frame.upsert', turnId, stepId: step.stepId, frame })),
    ]),
  ];
}

/** Returns the operation that adds a point after the turn with this ordinal. */
function pointOps(item: StoredItem, ordinal = -1): StoredOp[] {
  const beforeTurn = ordinal + 1;
  if (item.kind === 'marker') return [{ op: 'marker.upsert', item, beforeTurn }];
  return item.kind === 'taskref' ? [{ op: 'taskref.upsert', item, beforeTurn }] : [];
}

/**
 * Returns the operations that add the approvals and questions of these steps again, which were removed with the items.
 */
function interactionsOf({ state }: AgentTranscript, steps: readonly StoredStep[]): StoredOp[] {
  const calls = new Set(
    steps.flatMap(({ frames }) => frames.flatMap((frame) => (frame.kind === 'tool' ? frame.toolCallId : []))),
  );
  return [...state.interactions.values()]
    .filter(({ toolCallId }) => toolCallId !== undefined && calls.has(toolCallId))
    .map((interaction) => ({ op: 'interaction.upsert', interaction }));
}
