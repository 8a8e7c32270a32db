/** Pages back: older items before those of a state. */
import type { Item } from '#schema/transcript.ts';
import { itemId, type TranscriptState } from './state.ts';

/**
 * Puts the items of an older page in front of those of a state. Only its items count: what stands beside them may be
 * older than what the state has.
 */
export function prependItems(state: TranscriptState, items: readonly Item[], hasMoreOlder: boolean): void {
  const added = items.filter((item) => !state.byId.has(itemId(item)));
  for (const item of added) state.byId.set(itemId(item), item);
  state.items.unshift(...added);
  state.hasMoreOlder = hasMoreOlder;
}
