/** Archiving a session, and restoring it. */
import type { Clock } from '#server/clock.ts';
import type { Session } from '#schema/rest/session.ts';
import type { SessionHeader } from '../index/session-header.ts';
import type { LiveSessions } from '../live/live-sessions.ts';

export interface ArchiveActions {
  /** Unloads the session, which leaves the default list. Throws `session.not_found` and `persistence.failure`. */
  archive(id: string): Promise<{ archived: true }>;
  /** Clears the flag without loading the session. Throws `session.not_found` and `persistence.failure`. */
  unarchive(id: string): Promise<void>;
  /** Clears the flag and loads the session. Throws `session.not_found`, `internal.error` for a damaged journal, `persistence.failure`. */
  restore(id: string): Promise<Session>;
}

export interface ArchiveActionsDeps {
  live: Pick<LiveSessions, 'inTurn' | 'open' | 'patch' | 'unload' | 'use'>;
  /** Throws `session.not_found`. */
  rowOf(id: string): SessionHeader;
  announceArchived(sessionId: string, workspaceId: string): void;
  onRestored(sessionId: string): void;
  clock: Pick<Clock, 'now'>;
}

export function createArchiveActions({
  live,
  rowOf,
  announceArchived,
  onRestored,
  clock,
}: ArchiveActionsDeps): ArchiveActions {
  const unarchive = (id: string) =>
    live.inTurn(id, async () => {
      if (!rowOf(id).archived) return;
      await live.patch(id, () => ({ archived: false, archivedAt: undefined }));
      onRestored(id);
    });

  return {
    archive: (id) =>
      live.inTurn(id, async () => {
        const row = rowOf(id);
        if (row.archived) return { archived: true };
        await live.patch(id, () => ({ archived: true, archivedAt: clock.now() }));
        await live.unload(id, 'archive');
        announceArchived(id, row.workspaceId);
        return { archived: true };
      }),
    unarchive,
    async restore(id) {
      // First, so that a session that cannot be loaded stays archived.
      await live.open(id);
      await unarchive(id);
      return live.use(id, (session) => session.view());
    },
  };
}
