/** What the index stores of a session: its row, and what can be searched (records.md §3.6). */
import type { TurnOutcome } from '#schema/scalars.ts';
import type { LogState } from '#server/journal/fold.ts';
import { isUndoAnchor } from '#server/journal/projections/context.ts';
import type { IndexState } from '#server/journal/projections/index-row.ts';
import { isBusy } from '#server/journal/projections/activity.ts';

export interface IndexRow extends IndexState {
  outcome: TurnOutcome | undefined;
  /** A turn, task or compaction is open: to be settled if nobody holds the session. */
  open: boolean;
}

export interface SearchRow {
  /** Number of the record, in file order. */
  record: number;
  role: 'user' | 'assistant';
  text: string;
}

/** The session's row, but for what only `state.json` knows (custom metadata, archived). */
export function indexRow(state: LogState): IndexRow {
  return { ...state.index, outcome: state.activity.outcome, open: isBusy(state.activity) };
}

/** What can be searched in main's messages: prompts and answers that were not undone. Reads blobs. */
export function searchRows({ messages }: LogState): SearchRow[] {
  return messages.history.flatMap((message, place): SearchRow[] => {
    const { role, metadata } = message;
    const searched = role === 'assistant' || (role === 'user' && isUndoAnchor({ role, origin: metadata?.origin }));
    if (!searched) return [];
    const text = message.content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n');
    return text.trim() === '' ? [] : [{ record: messages.records[place] ?? 0, role, text }];
  });
}
