/** What the session list and the search know of a session (records.md §3.6). */
import type { TurnOutcome } from '../../schema/scalars.ts';
import type { TitleKind } from '../records.ts';
import type { LogState } from '../fold.ts';
import { isUndoAnchor } from './context.ts';
import { isBusy } from './status.ts';
import type { Projection } from './projection.ts';

export interface IndexState {
  workspaceId: string;
  /** `""` in a journal that tells none. */
  cwd: string;
  /** `""` when none. */
  title: string;
  titleKind: TitleKind;
  lastPrompt: string | undefined;
  /** Milliseconds; from the header. */
  createdAt: number;
  /** Milliseconds; `state.json` may know a later one. */
  updatedAt: number;
  forkedFrom: string | undefined;
}

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
  return { ...state.index, outcome: state.status.outcome, open: isBusy(state.status) };
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

export const indexProjection: Projection<IndexState> = {
  initial: (header) => ({
    workspaceId: '',
    cwd: '',
    title: '',
    titleKind: 'replaceable',
    lastPrompt: undefined,
    createdAt: header.created_at,
    updatedAt: header.created_at,
    forkedFrom: header.forked_from?.session_id,
  }),
  apply(state, record, t) {
    switch (record.type) {
      case 'event.session.created': {
        const { session } = record;
        const updatedAt = Date.parse(session.updated_at);
        state.workspaceId = session.workspace_id;
        state.cwd = session.metadata.cwd;
        state.title = session.title;
        state.titleKind = record.x?.titleKind ?? 'replaceable';
        state.lastPrompt = session.last_prompt;
        state.updatedAt = Number.isNaN(updatedAt) ? t : updatedAt;
        break;
      }
      case 'session.meta.updated': {
        const { title, patch, x } = record;
        if (title !== undefined) state.title = title;
        if (x?.titleKind) state.titleKind = x.titleKind;
        if (patch.lastPrompt !== undefined) {
          state.lastPrompt = patch.lastPrompt === '' ? undefined : patch.lastPrompt;
          state.updatedAt = t;
        }
        break;
      }
      case 'turn.ended':
        if (record.agent === 'main' && record.x?.cause === undefined) state.updatedAt = t;
        break;
    }
  },
};
