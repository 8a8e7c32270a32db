/** A page of turns around one that is far from the loaded ones, until it reaches them. */
import {
  type Item,
  itemId,
  prependItems,
  type TranscriptOp,
  type TranscriptPage,
  type TranscriptState,
} from '@service-code/client';

export interface TurnWindow {
  readonly items: readonly Item[];
  readonly hasMoreOlder: boolean;
}

type Page = Pick<TranscriptPage, 'items' | 'has_more'>;
type Turn = Extract<Item, { kind: 'turn' }>;

/** Turns before and after the wanted one. */
const AROUND = 15;
export const WINDOW_TURNS = 2 * AROUND + 1;

/** The id that a page around the turn is read before; the turn of that id need not exist. */
export const beforeTurn = (ordinal: number): string => `t${ordinal + AROUND + 1}`;

const isTurn = (item: Item): item is Turn => item.kind === 'turn';
export const oldestTurn = (items: readonly Item[]): Turn | undefined => items.find(isTurn);
export const newestTurn = (items: readonly Item[]): Turn | undefined => items.findLast(isTurn);

const withoutKnown = (items: readonly Item[], known: readonly Item[]) => {
  const ids = new Set(known.map(itemId));
  return items.filter((item) => !ids.has(itemId(item)));
};

export const openWindow = ({ items, has_more: hasMoreOlder }: Page): TurnWindow => ({ items, hasMoreOlder });

/** With a page of older turns. */
export const withOlder = (window: TurnWindow, { items, has_more: hasMoreOlder }: Page): TurnWindow => ({
  items: [...withoutKnown(items, window.items), ...window.items],
  hasMoreOlder,
});

/** With a page of newer turns. */
export const withNewer = ({ items, hasMoreOlder }: TurnWindow, page: Page): TurnWindow => ({
  items: [...items, ...withoutKnown(page.items, items)],
  hasMoreOlder,
});

/** Whether the window has reached the loaded turns, so that both are one conversation. */
export function reaches(
  { items }: TurnWindow,
  { byId, items: loaded }: Pick<TranscriptState, 'byId' | 'items'>,
): boolean {
  return items.some((item) => isTurn(item) && byId.has(itemId(item))) || oldestTurn(loaded) === undefined;
}

/** Adds the turns of a window that has reached the loaded ones. */
export function joinWindow({ items, hasMoreOlder }: TurnWindow, state: TranscriptState): void {
  const oldest = oldestTurn(state.items)?.ordinal ?? Infinity;
  const end = items.findIndex((item) => isTurn(item) && item.ordinal >= oldest);
  prependItems(state, end === -1 ? items : items.slice(0, end), hasMoreOlder);
}

/** `removed`: without these items; `stale`: the server has changed one of its turns. */
export function afterOps(
  window: TurnWindow,
  ops: readonly TranscriptOp[],
): { kind: 'same' } | { kind: 'removed'; window: TurnWindow } | { kind: 'stale' } {
  const ids = new Set(window.items.map(itemId));
  const removed = new Set(ops.flatMap((op) => (op.op === 'items.remove' ? op.ids : [])));
  if (ops.some((op) => op.op === 'reset' || ('turnId' in op && ids.has(op.turnId)))) return { kind: 'stale' };
  if (ops.some((op) => op.op === 'turn.upsert' && ids.has(op.turn.turnId))) return { kind: 'stale' };
  if (![...removed].some((id) => ids.has(id))) return { kind: 'same' };
  const items = window.items.filter((item) => !removed.has(itemId(item)));
  return { kind: 'removed', window: { ...window, items } };
}
