/** An agent's transcript as rows to draw, oldest first. Unchanged items keep their row objects. */
import { type Item, itemId, type TranscriptState } from '@service-code/client';
import { markerRows, noticeOf } from './marker-rows.ts';
import { reuseRows, type Marker, type Row, type Step, type Turn } from './rows.ts';
import { turnRows, type TurnInputs, type ViewMode } from './turn-body.ts';

/** Which turns are folded. Replaced at each change. */
export interface Folding {
  mode: ViewMode;
  /** By turn, where the user has decided it. */
  toggled: ReadonlyMap<string, boolean>;
}

export interface TimelineOptions {
  /** Whether a feature draws a marker; default: none. */
  isDrawn?(marker: Marker): boolean;
  /** Default: unknown. */
  effectOf?: TurnInputs['effectOf'];
}

export const unfolded: Folding = { mode: 'normal', toggled: new Map() };

interface Known {
  item: Item;
  rows: readonly Row[];
  /** The inputs that the rows of a turn were built from, besides the item. */
  steps: readonly { step: Step; frames: Step['frames'] }[];
  mode: ViewMode | undefined;
  isOpen: boolean | undefined;
  pending: string;
}

/** Creates a function that returns the rows of one transcript, memoized by item across changes. */
export function createTimeline({ isDrawn = () => false, effectOf = () => ({}) }: TimelineOptions = {}) {
  let known = new Map<string, Known>();

  function pointRows(item: Exclude<Item, Turn>, before: Known | undefined): Known {
    if (before?.item === item) return before;
    const rows = item.kind === 'marker' ? markerRows(item, isDrawn) : [];
    return { item, rows, steps: [], mode: undefined, isOpen: undefined, pending: '' };
  }

  /** Steps and frames are replaced when they change; a turn's list of them is mutated. */
  function rowsOfTurn(turn: Turn, before: Known | undefined, folding: Folding, waiting: ReadonlySet<string>): Known {
    const { mode } = folding;
    const isOpen = folding.toggled.get(turn.turnId);
    const pending = turn.state === 'running' && waiting.size > 0 ? [...waiting].join(' ') : '';
    const isKept =
      before?.item === turn &&
      before.mode === mode &&
      before.isOpen === isOpen &&
      before.pending === pending &&
      before.steps.length === turn.steps.length &&
      turn.steps.every((step, at) => hasFrames(before.steps[at], step));
    if (isKept) return before;
    const rows = turnRows({ turn, mode, isOpen, pending: waiting, effectOf });
    const steps = turn.steps.map((step) => ({ step, frames: [...step.frames] }));
    return { item: turn, rows: reuseRows(before?.rows ?? [], rows), steps, mode, isOpen, pending };
  }

  return function rowsOf(
    { items, pending }: Pick<TranscriptState, 'items' | 'pending'>,
    folding: Folding = unfolded,
  ): readonly Row[] {
    const next = new Map<string, Known>();
    const rows: Row[] = [];
    let failure: string | undefined;
    for (const item of items) {
      const id = itemId(item);
      const before = known.get(id);
      const made = item.kind === 'turn' ? rowsOfTurn(item, before, folding, pending) : pointRows(item, before);
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

const hasFrames = (before: Known['steps'][number] | undefined, step: Step) =>
  before?.step === step &&
  before.frames.length === step.frames.length &&
  step.frames.every((frame, at) => frame === before.frames[at]);

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

export { isCompacting } from './marker-rows.ts';
export type { Marker, Row, ToolFrame, Turn } from './rows.ts';
