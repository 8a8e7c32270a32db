/** Backward paging: inserts older items before those of a state. */
import type { Item } from '#schema/transcript.ts';
import { itemId, type TranscriptState } from './state.ts';

/**
 * Inserts the items of an older page before those of a state. Only its items are used: its entities may be older than
 * those of the state.
 */
export function prependItems(state: TranscriptState, items: readonly Item[], hasMoreOlder: boolean): void {
  const added = items.filter((item) => !state.byId.has(itemId(item)));
  for (const item of added) state.byId.set(itemId(item), item);
  state.items.unshift(...added);
  state.hasMoreOlder = hasMoreOlder;
}
