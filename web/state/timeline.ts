/** An agent's transcript as rows to draw, oldest first. Unchanged items keep their row objects. */
import { itemId } from '#server/transcript/reducer/state.ts';
import type { Frame, Item, Step, TranscriptState } from '../client/types.ts';

export type Turn = Extract<Item, { kind: 'turn' }>;
export type Marker = Extract<Item, { kind: 'marker' }>;
export type ToolFrame = Extract<Frame, { kind: 'tool' }>;

export type Tone = 'error' | 'warning' | 'info';

export interface PromptRow {
  kind: 'prompt';
  key: string;
  text: string;
  attachmentIds: readonly string[];
  /** Whether a person wrote it, so that it can be reverted. */
  own: boolean;
  /** The sender, unless it is a person. */
  sender?: string;
}

export interface StepRow {
  kind: 'step';
  key: string;
  /** The visible frames of the step; at least one. */
  frames: readonly Frame[];
  running: boolean;
}

export type Row =
  | PromptRow
  | StepRow
  | { kind: 'notice'; key: string; tone: Tone; text: string }
  | { kind: 'marker'; key: string; marker: Marker }
  | { kind: 'compacted'; key: string; summary: string; tokens: { before: number; after: number } | undefined };

interface Known {
  item: Item;
  rows: readonly Row[];
  /** The inputs that a turn's rows were built from. */
  opening: readonly Row[];
  steps: readonly { step: Step; frames: readonly Frame[]; rows: readonly Row[] }[];
}

/**
 * Creates a function that returns the rows of one transcript, memoized by item across changes. `isDrawn`: whether a
 * feature draws a marker; default: none.
 */
export function createTimeline(
  isDrawn: (marker: Marker) => boolean = () => false,
): (state: TranscriptState) => readonly Row[] {
  let known = new Map<string, Known>();

  return function rowsOf(state) {
    const next = new Map<string, Known>();
    const rows: Row[] = [];
    let failure: string | undefined;
    for (const item of state.items) {
      const id = itemId(item);
      const before = known.get(id);
      const made = item.kind === 'turn' ? turnRows(item, before) : pointRows(item, before, isDrawn);
      next.set(id, made);
      if (item.kind === 'turn') failure = item.state === 'failed' ? (item.error ?? '') : undefined;
      // The notice that repeats the error of a failed turn is omitted.
      if (item.kind === 'marker' && failure !== undefined && noticeOf(item)?.message === failure) continue;
      for (const row of made.rows) rows.push(row);
    }
    known = next;
    return rows;
  };
}

const sameItems = <T>(one: readonly T[], other: readonly T[]) =>
  one.length === other.length && one.every((value, at) => value === other[at]);

/** Steps and frames are replaced when they change; a turn's list of them is mutated. */
function turnRows(turn: Turn, known: Known | undefined): Known {
  const before = known?.steps ?? [];
  const isKept = (step: Step, at: number) => {
    const made = before[at];
    return made?.step === step && sameItems(made.frames, step.frames);
  };
  if (known?.item === turn && before.length === turn.steps.length && turn.steps.every(isKept)) return known;
  const steps = turn.steps.map((step, at) => {
    const made = before[at];
    return made && isKept(step, at) ? made : { step, frames: [...step.frames], rows: stepRows(step) };
  });
  const opening = known?.item === turn ? known.opening : openingRows(turn);
  return { item: turn, opening, steps, rows: [...opening, ...steps.flatMap(({ rows }) => rows), ...endRows(turn)] };
}

function openingRows({ turnId, prompt = '', attachmentIds = [], origin }: Turn): Row[] {
  if (prompt === '' && attachmentIds.length === 0) return [];
  const { payload } = origin;
  const own = payload === undefined ? origin.kind === 'user' : payload.kind === 'user' || 'trigger' in payload;
  const sender = payload?.kind === 'cron_job' ? jobOf(payload) : undefined;
  return [{ kind: 'prompt', key: turnId, text: prompt, attachmentIds, own, ...(sender && { sender }) }];
}

const jobOf = ({ cron, coalescedCount, stale }: { cron: string; coalescedCount: number; stale: boolean }) =>
  [
    `Scheduled job, ${cron}`,
    ...(coalescedCount > 1 ? [`for ${coalescedCount} times`] : []),
    ...(stale ? ['for the last time'] : []),
  ].join(', ');

function stepRows({ stepId, frames, state }: Step): Row[] {
  const entered = frames.flatMap((frame) => enteredRow(frame) ?? []);
  // The output of a failed attempt is void, since it was retried.
  const shown = state === 'failed' ? [] : frames.filter(isShown);
  if (shown.length === 0) return entered;
  return [...entered, { kind: 'step', key: stepId, frames: shown, running: state === 'running' }];
}

const isEntered = (frame: Frame) => frame.kind === 'text' && frame.role === 'user';

function isShown(frame: Frame): boolean {
  if (isEntered(frame)) return false;
  return 'text' in frame ? frame.text.trim() !== '' : true;
}

/** Input of the running turn: a prompt, or the notice that a task has ended. */
function enteredRow(frame: Frame): Row | undefined {
  if (frame.kind !== 'text' || frame.role !== 'user') return undefined;
  const { frameId: key, text, attachmentIds = [], taskId } = frame;
  if (taskId === undefined) return { kind: 'prompt', key, text, attachmentIds, own: true };
  return { kind: 'notice', key, tone: 'info', text: text.split('\n')[0] ?? '' };
}

function endRows({ turnId, state, error }: Turn): Row[] {
  if (state !== 'failed') return [];
  const key = `${turnId}.end`;
  if (error === undefined) return [{ kind: 'notice', key, tone: 'warning', text: 'A hook blocked this prompt.' }];
  return [{ kind: 'notice', key, tone: 'error', text: error }];
}

function pointRows(item: Exclude<Item, Turn>, known: Known | undefined, isDrawn: (marker: Marker) => boolean): Known {
  if (known?.item === item) return known;
  return { item, opening: [], steps: [], rows: item.kind === 'marker' ? markerRows(item, isDrawn) : [] };
}

function markerRows(item: Marker, isDrawn: (marker: Marker) => boolean): Row[] {
  const { markerId: key, marker } = item;
  const notice = (tone: Tone, text: string): Row[] => [{ kind: 'notice', key, tone, text }];
  switch (marker) {
    case 'interruption':
      return notice(
        'info',
        fieldOf(item, 'reason') === 'server_stopped' ? 'Interrupted: the server stopped during this turn.' : 'Stopped.',
      );
    case 'notice': {
      const said = noticeOf(item);
      return said ? notice(said.level, said.message) : [];
    }
    case 'hook':
      return fieldOf(item, 'blocked') === true
        ? notice('warning', `A hook refused this prompt: ${String(fieldOf(item, 'content'))}`)
        : [];
    case 'undo':
      return notice('info', fieldOf(item, 'turns') === 1 ? 'A prompt was taken back.' : 'Prompts were taken back.');
    case 'clear':
      return notice('info', 'The conversation was cleared.');
    case 'compaction':
      return compactionRows(item);
    default:
      return isDrawn(item) ? [{ kind: 'marker', key, marker: item }] : [];
  }
}

function compactionRows(item: Marker): Row[] {
  const key = item.markerId;
  switch (fieldOf(item, 'phase')) {
    case 'completed': {
      const summary = fieldOf(item, 'text');
      const result = fieldOf(item, 'result');
      const [before, after] = [memberOf(result, 'tokensBefore'), memberOf(result, 'tokensAfter')];
      const tokens = typeof before === 'number' && typeof after === 'number' ? { before, after } : undefined;
      return [{ kind: 'compacted', key, summary: typeof summary === 'string' ? summary : '', tokens }];
    }
    case 'cancelled':
      return [{ kind: 'notice', key, tone: 'info', text: 'The conversation was not compacted.' }];
    default:
      return [];
  }
}

function noticeOf(item: Marker): { level: 'error' | 'warning'; message: string } | undefined {
  if (item.marker !== 'notice') return undefined;
  const message = fieldOf(item, 'message');
  if (typeof message !== 'string') return undefined;
  return { level: fieldOf(item, 'level') === 'error' ? 'error' : 'warning', message };
}

const fieldOf = ({ payload }: Marker, name: string): unknown => memberOf(payload, name);

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Whether the last compaction marker reports a running compaction. */
export function isCompacting({ items }: Pick<TranscriptState, 'items'>): boolean {
  const last = items.findLast((item) => item.kind === 'marker' && item.marker === 'compaction');
  const phase = last?.kind === 'marker' ? fieldOf(last, 'phase') : undefined;
  return phase === 'started' || phase === 'blocked';
}

/**
 * The number of prompts that an undo of this one reverts; undefined if it cannot be reverted: no person wrote it, or
 * the conversation was compacted after it.
 */
export function undoCount(rows: readonly Row[], key: string): number | undefined {
  let count = 0;
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    const row = rows[at];
    if (row?.kind === 'compacted') return undefined;
    if (row?.kind !== 'prompt' || !row.own) continue;
    count += 1;
    if (row.key === key) return count;
  }
  return undefined;
}
