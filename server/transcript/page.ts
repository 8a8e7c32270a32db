/** Pages of an agent's timeline: turns, each with the items that follow it. */
import type { StoredItem, StoredState } from './reducer/state.ts';

export interface PageQuery {
  /** Ordinals; only turns older, or newer, than this. */
  before?: number | undefined;
  after?: number | undefined;
  size: number;
}

/** A turn with all items between it and the next. */
export type Segment = StoredItem[];

export interface SelectedPage {
  /** Oldest first; more may follow in the direction of paging. */
  segments: Segment[];
  /** Items before the first turn; part of a page without older turns. */
  head: StoredItem[];
  hasMore: boolean;
}

/** Copies the turns of a page, so that later changes do not affect them. */
export function selectPage({ items }: StoredState, { before, after, size }: PageQuery): SelectedPage {
  const end = before === undefined ? items.length : firstTurn(items, before);
  const forwards = after !== undefined;
  const begin = forwards ? Math.min(firstTurn(items, after + 1), end) : 0;
  // One more than requested, to detect whether the page is the last.
  const found = forwards ? turnsBehind(items, begin, end, size + 1) : turnsBefore(items, end, size + 1);
  const starts = forwards ? found.slice(0, size) : found.slice(-size);
  const behind = forwards ? (found[size] ?? end) : end;
  return {
    segments: starts.map((at, index) => items.slice(at, starts[index + 1] ?? behind).map(copied)),
    head: forwards ? [] : items.slice(0, firstTurn(items, 0)),
    hasMore: found.length > size,
  };
}

type Items = StoredState['items'];

/**
 * The index of the first turn of at least this ordinal, else the end. Turns ascend and few items are between two of
 * them, so bisection checks few items, however long the session is.
 */
function firstTurn(items: Items, ordinal: number): number {
  let found = items.length;
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    let at = middle;
    while (at < high && items[at]?.kind !== 'turn') at++;
    const item = at < high ? items[at] : undefined;
    if (item?.kind === 'turn' && item.ordinal < ordinal) low = at + 1;
    else {
      if (item) found = at;
      high = middle;
    }
  }
  return found;
}

/** Indexes of turns from `begin` on, at most `count` of them. */
function turnsBehind(items: Items, begin: number, end: number, count: number): number[] {
  const starts: number[] = [];
  for (let at = begin; at < end && starts.length < count; at++) if (items[at]?.kind === 'turn') starts.push(at);
  return starts;
}

/** Indexes of the last turns before `end`, at most `count` of them, in order. */
function turnsBefore(items: Items, end: number, count: number): number[] {
  const starts: number[] = [];
  for (let at = end - 1; at >= 0 && starts.length < count; at--) if (items[at]?.kind === 'turn') starts.push(at);
  return starts.toReversed();
}

function copied(item: StoredItem): StoredItem {
  if (item.kind !== 'turn') return item;
  return { ...item, steps: item.steps.map((step) => ({ ...step, frames: [...step.frames] })) };
}
