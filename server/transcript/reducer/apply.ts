/** Applies operations to a transcript's state: the only code that does. */
import type { TranscriptOp } from '#schema/rest/transcript-ops.ts';
import { appended } from './append.ts';
import { sameValue } from './equal.ts';
import {
  emptyTranscript,
  itemId,
  type StoredValue,
  type StoredFrame,
  type StoredItem,
  type StoredState,
  type StoredStep,
  type StoredTextFrame,
  type StoredTurn,
  type TranscriptState,
} from './state.ts';

export interface Applied {
  /** Whether the state differs from before. */
  changed: boolean;
  /** A chunk of text did not fit the state: the client lost an operation and must read again. */
  gap: boolean;
}

type Change = 'changed' | 'same' | 'gap';
type AnyOp = StoredValue<TranscriptOp>;
type OpOf<K extends AnyOp['op']> = Extract<AnyOp, { op: K }>;

/**
 * Applies a batch in order, mutating the state. Total: never throws for any operations. An operation that does not fit
 * is skipped; the others are applied.
 */
export function applyOps(state: TranscriptState, ops: readonly TranscriptOp[]): Applied;
export function applyOps(state: StoredState, ops: readonly AnyOp[]): Applied;
export function applyOps(state: StoredState, ops: readonly AnyOp[]): Applied {
  const applied: Applied = { changed: false, gap: false };
  for (const op of ops) {
    const change = applyOp(state, op);
    if (change === 'changed') applied.changed = true;
    if (change === 'gap') applied.gap = true;
  }
  return applied;
}

/** Like `applyOps`, for one operation. */
export function applyOp(state: StoredState, op: AnyOp): Change {
  switch (op.op) {
    case 'turn.upsert':
      return upsertTurn(state, op);
    case 'step.upsert':
      return upsertStep(state, op);
    case 'frame.upsert':
      return upsertFrame(state, op);
    case 'append':
      return append(state, op);
    case 'marker.upsert':
    case 'taskref.upsert':
      return upsertPoint(state, op.item, op.beforeTurn);
    case 'task.upsert':
      return put(state.tasks, op.task.taskId, op.task);
    case 'interaction.upsert': {
      const { interactionId, state: now } = op.interaction;
      if (now === 'pending') state.pending.add(interactionId);
      else state.pending.delete(interactionId);
      return put(state.interactions, interactionId, op.interaction);
    }
    case 'attachment.upsert':
      return put(state.attachments, op.attachment.attachmentId, op.attachment);
    case 'todo.upsert':
      return put(state.todos, op.todo.todoId, op.todo);
    case 'prompt.upsert':
      return put(state.prompts, op.prompt.promptId, op.prompt);
    case 'meta.merge':
      return mergeMeta(state, op.meta);
    case 'items.remove':
      return removeItems(state, new Set(op.ids));
    case 'reset':
      return reset(state, op.snapshot);
    default:
      // Unknown operations are ignored.
      return 'same';
  }
}

function put<T>(entities: Map<string, T>, id: string, entity: T): Change {
  const known = entities.get(id);
  if (known !== undefined && sameValue(known, entity)) return 'same';
  entities.set(id, entity);
  return 'changed';
}

/** Inserts before the first turn that belongs after the item, else at the end. */
function insert(state: StoredState, item: StoredItem, isBehind: (turn: StoredTurn) => boolean): void {
  let place = state.items.length;
  for (let at = place - 1; at >= 0; at -= 1) {
    const other = state.items[at];
    if (other?.kind !== 'turn') continue;
    if (!isBehind(other)) break;
    place = at;
  }
  if (place === state.items.length) state.items.push(item);
  else state.items.splice(place, 0, item);
  state.byId.set(itemId(item), item);
}

function replace(state: StoredState, known: StoredItem, item: StoredItem): void {
  state.items[state.items.lastIndexOf(known)] = item;
  state.byId.set(itemId(item), item);
}

function upsertTurn(state: StoredState, { turn }: OpOf<'turn.upsert'>): Change {
  const known = state.byId.get(turn.turnId);
  if (known?.kind !== 'turn') {
    if (known) removeItems(state, new Set([turn.turnId]));
    insert(state, { ...turn, steps: [] }, ({ ordinal }) => ordinal > turn.ordinal);
    return 'changed';
  }
  const next = { ...turn, steps: known.steps };
  // Versions of a turn mostly differ in `state`, which is cheap to compare.
  if (known.state === turn.state && sameValue(known, next)) return 'same';
  if (turn.ordinal === known.ordinal) replace(state, known, next);
  else {
    removeItems(state, new Set([turn.turnId]), false);
    insert(state, next, ({ ordinal }) => ordinal > turn.ordinal);
  }
  return 'changed';
}

/** The turn of a step; created without details if a client does not have it yet. */
function turnFor(state: StoredState, turnId: string): StoredTurn {
  const known = state.byId.get(turnId);
  if (known?.kind === 'turn') return known;
  if (known) removeItems(state, new Set([turnId]));
  const turn: StoredTurn = {
    kind: 'turn',
    turnId,
    ordinal: numberIn(turnId, /^t(\d+)$/),
    state: 'running',
    origin: { kind: 'other' },
    steps: [],
  };
  insert(state, turn, ({ ordinal }) => ordinal > turn.ordinal);
  return turn;
}

const numberIn = (id: string, pattern: RegExp) => Number(pattern.exec(id)?.[1] ?? 0);

function insertStep(turn: StoredTurn, step: StoredStep): void {
  const { steps } = turn;
  const last = steps.at(-1);
  if (!last || last.ordinal <= step.ordinal) steps.push(step);
  else steps.splice(steps.findLastIndex(({ ordinal }) => ordinal <= step.ordinal) + 1, 0, step);
}

function upsertStep(state: StoredState, { turnId, step }: OpOf<'step.upsert'>): Change {
  const turn = turnFor(state, turnId);
  const at = turn.steps.findLastIndex(({ stepId }) => stepId === step.stepId);
  const known = turn.steps[at];
  if (!known) {
    insertStep(turn, { ...step, frames: [] });
    return 'changed';
  }
  const next = { ...step, frames: known.frames };
  if (known.state === step.state && sameValue(known, next)) return 'same';
  if (step.ordinal === known.ordinal) turn.steps[at] = next;
  else {
    turn.steps.splice(at, 1);
    insertStep(turn, next);
  }
  return 'changed';
}

function upsertFrame(state: StoredState, { turnId, stepId, frame }: OpOf<'frame.upsert'>): Change {
  const turn = turnFor(state, turnId);
  let step = turn.steps.findLast((one) => one.stepId === stepId);
  if (!step) {
    const ordinal = numberIn(stepId, /\.(\d+)$/);
    step = { kind: 'step', stepId, turnId, ordinal, state: 'running', frames: [] };
    insertStep(turn, step);
  }
  const at = step.frames.findLastIndex(({ frameId }) => frameId === frame.frameId);
  const known = step.frames[at];
  if (!known) step.frames.push(frame);
  else if (sameValue(known, frame)) return 'same';
  else step.frames[at] = frame;
  return 'changed';
}

function append(state: StoredState, { target, offset, text }: OpOf<'append'>): Change {
  if (typeof text !== 'string') return 'gap';
  if (target.type === 'task') return appendToTask(state, target.taskId, offset, text);
  const turn = state.byId.get(target.turnId);
  if (turn?.kind !== 'turn') return 'gap';
  const step = turn.steps.findLast(({ stepId }) => stepId === target.stepId);
  const at = step?.frames.findLastIndex(({ frameId }) => frameId === target.frameId) ?? -1;
  const frame = step?.frames[at];
  if (!step || !isWritten(frame) || typeof frame.text !== 'string') return 'gap';
  const whole = appended(frame.text, offset, text);
  if (whole === undefined) return 'gap';
  if (whole === frame.text) return 'same';
  step.frames[at] = { ...frame, text: whole };
  return 'changed';
}

const isWritten = (frame: StoredFrame | undefined): frame is StoredTextFrame =>
  frame?.kind === 'text' || frame?.kind === 'thinking';

function appendToTask(state: StoredState, taskId: string, offset: number, text: string): Change {
  const known = state.tasks.get(taskId);
  if (!known && offset > 0) return 'gap';
  const task = known ?? { taskId, kind: 'other', state: 'running', detached: false, outputTail: '' };
  const outputTail = appended(task.outputTail, offset, text);
  return outputTail === undefined ? 'gap' : put(state.tasks, taskId, { ...task, outputTail });
}

/** Inserts or replaces a marker or a task reference. */
function upsertPoint(
  state: StoredState,
  item: Exclude<StoredItem, StoredTurn>,
  beforeTurn: number | undefined,
): Change {
  const known = state.byId.get(itemId(item));
  if (known && sameValue(known, item)) return 'same';
  if (known && known.kind !== 'turn') replace(state, known, item);
  else {
    if (known) removeItems(state, new Set([itemId(item)]));
    insert(state, item, ({ ordinal }) => beforeTurn !== undefined && ordinal >= beforeTurn);
  }
  return 'changed';
}

/** Removes items, and with a turn the interactions of its calls. */
function removeItems(state: StoredState, ids: ReadonlySet<string>, withInteractions = true): Change {
  const removed = state.items.filter((item) => ids.has(itemId(item)));
  if (removed.length === 0) return 'same';
  state.items = state.items.filter((item) => !ids.has(itemId(item)));
  for (const item of removed) state.byId.delete(itemId(item));
  if (withInteractions) removeInteractions(state, new Set(removed.flatMap(callsOf)));
  return 'changed';
}

const callsOf = (item: StoredItem): string[] =>
  item.kind === 'turn'
    ? item.steps.flatMap(({ frames }) => frames.flatMap((frame) => (frame.kind === 'tool' ? frame.toolCallId : [])))
    : [];

function removeInteractions(state: StoredState, calls: ReadonlySet<string>): void {
  for (const [id, { toolCallId }] of state.interactions) {
    if (toolCallId === undefined || !calls.has(toolCallId)) continue;
    state.interactions.delete(id);
    state.pending.delete(id);
  }
}

function mergeMeta(state: StoredState, merge: OpOf<'meta.merge'>['meta']): Change {
  const { goal, modes, agent, activity, settingsChanges } = merge;
  const meta = { ...state.meta };
  if (goal === null) delete meta.goal;
  else if (goal !== undefined) meta.goal = goal;
  if (modes) {
    const { plan, swarm } = withDefined<typeof modes>({ ...meta.modes }, modes);
    const on = { ...(plan ? { plan } : {}), ...(swarm ? { swarm } : {}) };
    if (plan || swarm) meta.modes = on;
    else delete meta.modes;
  }
  if (agent) meta.agent = withDefined({ ...meta.agent }, agent);
  if (activity !== undefined) meta.activity = activity;
  if (settingsChanges) meta.settingsChanges = settingsChanges;
  if (sameValue(meta, state.meta)) return 'same';
  state.meta = meta;
  return 'changed';
}

/** Copies the members of another value, except undefined ones, which are treated as absent. */
function withDefined<T extends object>(value: T, other: T): T {
  for (const key in other) if (other[key] !== undefined) value[key] = other[key];
  return value;
}

function reset(state: StoredState, snapshot: OpOf<'reset'>['snapshot']): Change {
  const { items, tasks, interactions = [], attachments = [], todos = [], prompts = [], meta, hasMoreOlder } = snapshot;
  Object.assign(state, emptyTranscript(), { meta, hasMoreOlder: hasMoreOlder ?? false });
  for (const item of items) {
    const copy =
      item.kind === 'turn'
        ? { ...item, steps: item.steps.map((step) => ({ ...step, frames: [...step.frames] })) }
        : item;
    state.items.push(copy);
    state.byId.set(itemId(copy), copy);
  }
  for (const task of tasks) state.tasks.set(task.taskId, task);
  for (const interaction of interactions) applyOp(state, { op: 'interaction.upsert', interaction });
  for (const attachment of attachments) state.attachments.set(attachment.attachmentId, attachment);
  for (const todo of todos) state.todos.set(todo.todoId, todo);
  for (const prompt of prompts) state.prompts.set(prompt.promptId, prompt);
  return 'changed';
}
