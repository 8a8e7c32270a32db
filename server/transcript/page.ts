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
  const starts: { at: number; ordinal: number }[] = [];
  items.forEach((item, at) => {
    if (item.kind === 'turn') starts.push({ at, ordinal: item.ordinal });
  });
  const wanted = starts.filter(
    ({ ordinal }) => (before === undefined || ordinal < before) && (after === undefined || ordinal > after),
  );
  const forwards = after !== undefined;
  const taken = forwards ? wanted.slice(0, size) : wanted.slice(-size);
  const endOf = ({ at }: { at: number }) => starts.find((start) => start.at > at)?.at ?? items.length;
  return {
    segments: taken.map((start) => items.slice(start.at, endOf(start)).map(copied)),
    head: forwards ? [] : items.slice(0, starts[0]?.at ?? items.length),
    hasMore: wanted.length > taken.length,
  };
}

function copied(item: HeldItem): HeldItem {
  if (item.kind !== 'turn') return item;
  return { ...item, steps: item.steps.map((step) => ({ ...step, frames: [...step.frames] })) };
}
