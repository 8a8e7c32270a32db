/** Items of the v2 session list. */
import type { Session } from '#schema/rest/session.ts';
import type { ActivityStatus, ListedSession } from '#schema/rest/session-listing.ts';
import { sessionOfHeader, type SessionHeader } from '../index/session-header.ts';

/** The members that the list reads of a session that is loaded in this process. */
export interface ListedLive {
  readonly id: string;
  view(stored: SessionHeader): Session;
  /** The model that the main agent is bound to; undefined before its first use. */
  boundModel(): string | undefined;
}

/** The first that applies; a pending interaction precedes the turn that waits for it. */
export function activityOf(session: Session): ActivityStatus {
  if (session.pending_interaction !== 'none') return session.pending_interaction;
  if (session.busy || session.main_turn_active) return 'running';
  return session.last_turn_reason === 'failed' ? 'failed' : 'idle';
}

/** The session's directory; `root` is that of its workspace. */
export const directoryOf = ({ cwd }: Pick<SessionHeader, 'cwd'>, root: string | undefined): string | null =>
  cwd || root || null;

/** Builds an item from the row, without git facts; status and model are those of `live`, the loaded session. */
export function itemOf(row: SessionHeader, live: ListedLive | undefined, root: string | undefined): ListedSession {
  const archived_at = row.archived ? (row.archivedAt ?? null) : null;
  return {
    id: row.id,
    workspace: { id: row.workspaceId, cwd: directoryOf(row, root) },
    meta: {
      title: row.title || null,
      last_prompt: row.lastPrompt || null,
      created_at: row.createdAt,
      updated_at: row.updatedAt,
      archived: row.archived,
      archived_at,
    },
    activity: {
      status: activityOf(live?.view(row) ?? sessionOfHeader(row, undefined)),
      model: live?.boundModel() ?? null,
    },
  };
}
