/** The number of prompts that an undo reverts. */
import type { TranscriptState } from '@service-code/client';
import { t } from '../messages/messages.ts';
import { ExplainedError } from '../messages/problem.ts';
import { createTimeline, undoCount } from '../state/timeline.ts';

export interface LoadedConversation {
  /** The loaded turns; undefined before there are any. */
  state(): Pick<TranscriptState, 'items' | 'pending' | 'hasMoreOlder'> | undefined;
  /** Loads a page of older turns; does nothing while the server is away. */
  loadOlder(): Promise<void>;
}

/**
 * Loads the conversation back to a prompt, which only the window of a jump may have, and to what is before it: that
 * stays displayed after the undo. Resolves to undefined if the prompt cannot be reverted, or if that is not wanted any
 * more.
 */
export async function countUndone(
  { state, loadOlder }: LoadedConversation,
  key: string,
  isWanted: () => boolean,
): Promise<number | undefined> {
  const rowsOf = createTimeline();
  for (;;) {
    const loaded = state();
    const rows = loaded ? rowsOf(loaded) : [];
    const isEnough = rows.findIndex((row) => row.key === key) > 0 || rows.some(({ kind }) => kind === 'compacted');
    if (isEnough || !loaded?.hasMoreOlder) return undoCount(rows, key);
    const { length } = loaded.items;
    await loadOlder();
    if (!isWanted()) return undefined;
    if (state()?.items.length === length) throw new ExplainedError(t('conversation.notLoaded'));
  }
}
