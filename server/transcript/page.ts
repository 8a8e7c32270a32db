/** Pages of an agent's timeline: turns with what stands behind each of them. */
import type { HeldItem, HeldState } from './reducer/state.ts';

export interface PageQuery {
  /** Ordinals; only turns older, or newer, than this. */
  before?: number | undefined;
  after?: number | undefined;
  size: number;
}

/** A turn with all that stands between it and the next. */
export type Segment = HeldItem[];

export interface SelectedPage {
  /** Oldest first; in the direction of paging more may follow. */
  segments: Segment[];
  /** What stands before the first turn; belongs to a page that leaves no older turn. */
  head: HeldItem[];
  hasMore: boolean;
}

/** The turns of a page as they are now: what is changed later changes nothing in it. */
export function selectPage({ items }: HeldState, { before, after, size }: PageQuery): SelectedPage {
  const starts = items.flatMap((item, at) => (item.kind === 'turn' ? { at, ordinal: item.ordinal } : []));
  const forwards = after !== undefined;
  // Turns ascend, so those wanted stand together.
  const first = forwards ? starts.findLastIndex(({ ordinal }) => ordinal <= after) + 1 : 0;
  const last = before === undefined ? starts.length : starts.findLastIndex(({ ordinal }) => ordinal < before) + 1;
  const [from, to] = forwards ? [first, Math.min(last, first + size)] : [Math.max(first, last - size), last];
  const startOf = (turn: number) => starts[turn]?.at ?? items.length;
  return {
    segments: starts.slice(from, to).map(({ at }, index) => items.slice(at, startOf(from + index + 1)).map(copied)),
    head: forwards ? [] : items.slice(0, startOf(0)),
    hasMore: forwards ? to < last : from > first,
  };
}

function copied(item: HeldItem): HeldItem {
  if (item.kind !== 'turn') return item;
  return { ...item, steps: item.steps.map((step) => ({ ...step, frames: [...step.frames] })) };
}
