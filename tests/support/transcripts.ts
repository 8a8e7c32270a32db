/** Reads and compares transcripts in tests. */
import type { TranscriptPage } from '#schema/rest/transcript.ts';
import type { TranscriptOp } from '#schema/rest/transcript-ops.ts';
import { applyOps } from '#server/transcript/reducer/apply.ts';
import {
  emptyTranscript,
  type StoredFrame,
  type StoredItem,
  type StoredState,
  type StoredStep,
  type StoredToolFrame,
  type TranscriptState,
} from '#server/transcript/reducer/state.ts';

/** The state that a client builds from a page. */
export function stateOfPage(page: TranscriptPage): TranscriptState {
  const { agent_id, has_more, items, tasks, interactions, attachments, todos, prompts, meta } = page;
  const snapshot = { items, tasks, interactions, attachments, todos, prompts, meta, hasMoreOlder: has_more };
  const state = emptyTranscript();
  applyOps(state, [{ op: 'reset', agentId: agent_id, snapshot }]);
  return state;
}

/** The state of a client that applied all of `ops`. */
export function stateOfOps(ops: readonly TranscriptOp[]): TranscriptState {
  const state = emptyTranscript();
  applyOps(state, ops);
  return state;
}

/** The state as sorted lists, without the entities that a page omits. */
export function listed({ items, tasks, interactions, attachments, todos, prompts, meta, pending }: StoredState) {
  const used = new Set(items.flatMap(attachmentsOf));
  return {
    items,
    tasks: byId(tasks),
    interactions: byId(interactions),
    attachments: byId(attachments).filter(([id]) => used.has(id)),
    todos: byId(todos),
    prompts: byId(prompts).filter(([, { finishedAt }]) => finishedAt === undefined),
    meta,
    pending: [...pending].toSorted(),
  };
}

const byId = <T>(entities: Map<string, T>) => [...entities].toSorted(([a], [b]) => (a < b ? -1 : 1));

const attachmentsOf = (item: StoredItem): string[] =>
  item.kind === 'turn'
    ? [
        ...(item.attachmentIds ?? []),
        ...item.steps.flatMap(({ frames }) =>
          frames.flatMap((frame) => (frame.kind === 'text' ? (frame.attachmentIds ?? []) : [])),
        ),
      ]
    : [];

/**
 * The part of a state that does not depend on how the transcript was read: without in-memory members, empty texts, and
 * the calls of failed attempts, which were never recorded; frames in the order of a fresh read.
 */
export function canonical(state: StoredState) {
  const { meta, prompts: _prompts, items, ...rest } = listed(state);
  const { phase: _phase, usage, ...agent } = meta.agent ?? {};
  const { currentTurn: _currentTurn, ...spent } = usage ?? {};
  const facts = { ...agent, ...(usage ? { usage: spent } : {}) };
  const { agent: _agent, ...others } = meta;
  const own = Object.keys(facts).length > 0 ? { agent: facts } : {};
  return { ...rest, items: items.map(settledItem), meta: { ...others, ...own } };
}

const settledItem = (item: StoredItem): StoredItem =>
  item.kind === 'turn' ? { ...item, steps: item.steps.map(settledStep) } : item;

function settledStep(step: StoredStep): StoredStep {
  const kept = step.frames.filter((frame) =>
    frame.kind === 'tool' ? !isOfFailedAttempt(step, frame) : !('text' in frame) || frame.text !== '',
  );
  return { ...step, frames: kept.map(withoutStream).toSorted((a, b) => rank(a) - rank(b)) };
}

/** The step failed, or was interrupted before its next attempt; every other call gets a result. */
const isOfFailedAttempt = ({ state }: StoredStep, { input, output }: StoredToolFrame) =>
  state === 'failed' || (state === 'interrupted' && input === undefined && output === undefined);

function withoutStream(frame: StoredFrame): StoredFrame {
  if (frame.kind !== 'tool') return frame;
  const { inputText: _inputText, progress: _progress, ...rest } = frame;
  return rest;
}

/** Sort key: text frames by their numbers, then calls in their order. */
const rank = (frame: StoredFrame) => (frame.kind === 'tool' ? Infinity : Number(/\d+$/.exec(frame.frameId)?.[0]));
