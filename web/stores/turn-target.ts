/** Scrolls a conversation to the turn that a search has found. */
import { watch, type Ref } from 'vue';
import type { TurnTarget } from '../state/search-hits.ts';
import type { Row } from '../state/rows.ts';
import { findRow, type LoadedTurns } from '../state/turn-rows.ts';

export interface TurnSeeker {
  /** Undefined before anything is wanted, and after the user has moved elsewhere. */
  target: Readonly<Ref<TurnTarget | undefined>>;
  /** Undefined until the conversation is loaded. */
  state(): LoadedTurns | undefined;
  /** Another array after each change of the conversation. */
  rows: Readonly<Ref<readonly Row[]>>;
  /** Reads turns before the loaded ones, or those around the target. */
  loadOlder(): Promise<void>;
  /**
   * Receives the row, again when it was removed meanwhile and loaded again: the server may replace the conversation by
   * its newest turns. Undefined if the turn is not part of the conversation any more.
   */
  onFound(key: string | undefined, isAgain: boolean): void;
}

/**
 * Loads older turns until the target is among the rows, after each change of both until the current effect scope is
 * disposed. Call the returned function as soon as rows can be displayed.
 */
export function seekTurn({ target, state, rows, loadOlder, onFound }: TurnSeeker): () => void {
  let isLoading = false;
  /** Whether something has changed during the load. */
  let hasChanged = false;
  /** The target of the last row. */
  let last: TurnTarget | undefined;
  /** The row that is displayed, and for which target. */
  let shown: { target: TurnTarget; key: string } | undefined;

  async function load() {
    isLoading = true;
    hasChanged = false;
    await loadOlder();
    isLoading = false;
    if (hasChanged) seek();
  }

  function seek() {
    if (isLoading) hasChanged = true;
    const [wanted, loaded] = [target.value, state()];
    if (!wanted || !loaded || isLoading) return;
    const found = findRow(loaded, rows.value, wanted);
    if (found.kind === 'row') {
      if (shown?.target === wanted && shown.key === found.key) return;
      const isAgain = last === wanted;
      last = wanted;
      shown = { target: wanted, key: found.key };
      return onFound(found.key, isAgain);
    }
    shown = undefined;
    if (found.kind === 'lost') onFound(undefined, false);
    if (found.kind === 'load') void load();
  }

  watch([target, rows], seek, { flush: 'post' });
  return seek;
}
