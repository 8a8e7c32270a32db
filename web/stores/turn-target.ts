/** Scrolls a conversation to the turn that a search has found. */
import { onMounted, watch, type Ref } from 'vue';
import type { TranscriptState } from '../client/types.ts';
import type { TurnTarget } from '../state/search-hits.ts';
import type { Row } from '../state/timeline.ts';
import { findRow } from '../state/turn-rows.ts';

export interface TurnSeeker {
  /** Undefined before anything is wanted, and after it was found. */
  target: Readonly<Ref<TurnTarget | undefined>>;
  /** Undefined until the conversation is loaded. */
  state(): TranscriptState | undefined;
  /** Another array after each change of the conversation. */
  rows: Readonly<Ref<readonly Row[]>>;
  loadOlder(): Promise<void>;
  /** Receives the row; undefined if the turn is not part of the conversation any more. */
  onFound(key: string | undefined): void;
}

/** Loads older turns until the target is among the rows, while the calling component is mounted. */
export function seekTurn({ target, state, rows, loadOlder, onFound }: TurnSeeker): void {
  let isLoading = false;

  async function load() {
    isLoading = true;
    await loadOlder();
    isLoading = false;
  }

  function seek() {
    const [wanted, loaded] = [target.value, state()];
    if (!wanted || !loaded || isLoading) return;
    const found = findRow(loaded, rows.value, wanted);
    if (found.kind === 'row') onFound(found.key);
    if (found.kind === 'lost') onFound(undefined);
    // The change that this causes is drawn after the promise has settled.
    if (found.kind === 'load') void load();
  }

  watch([target, rows], seek, { flush: 'post' });
  onMounted(seek);
}
