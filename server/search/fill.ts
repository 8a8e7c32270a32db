/** Finds sessions that the search index lacks, by comparing it with the session index, and indexes them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Connection } from '#server/storage/derived-db.ts';
import type { Hint } from './messages.ts';
import { removeSession, setArchived } from './sessions.ts';

/** Sessions of a portion, which are compared in one statement. */
const PORTION = 5_000;

const rowSchema = z.object({
  id: z.string(),
  workspaceId: z.string(),
  archived: z.literal([0, 1]).transform(Boolean),
  length: z.number(),
  updatedAt: z.number(),
  indexedLength: z.number().nullable(),
  failedLength: z.number().nullable(),
  indexedArchived: z.number().nullable(),
});
type Row = z.infer<typeof rowSchema>;

/** The most recently updated first; an index of the table has this order. */
const COMPARED = `
  SELECT i.id, i.workspace_id AS workspaceId, i.archived, i.journal_length AS length, i.updated_at AS updatedAt,
    s.length AS indexedLength, s.failed_length AS failedLength, s.archived AS indexedArchived
  FROM session_index.sessions i LEFT JOIN sessions s ON s.id = i.id
  WHERE i.archived = @archived AND (i.updated_at, i.id) < (@updatedAt, @id)
  ORDER BY i.updated_at DESC, i.id DESC LIMIT @portion`;

const REMOVED = `
  SELECT s.id FROM sessions s
  WHERE NOT EXISTS (SELECT 1 FROM session_index.sessions i WHERE i.id = s.id) LIMIT @portion`;

const FILLED = `SELECT 1 FROM session_index.facts WHERE name = 'filled'`;

const isOutdated = ({ length, indexedLength, failedLength }: Row) =>
  length !== (indexedLength ?? 0) && length !== failedLength;

const isShownWrongly = ({ archived, indexedArchived }: Row) =>
  indexedArchived !== null && indexedArchived !== Number(archived);

export interface FillDeps {
  connection: Connection;
  /** File of the session index. */
  sessionIndex: string;
  sessionsDir: string;
  /** Indexes a session, or does so at the next `flush`. */
  index(session: Hint): Promise<void>;
  /** Called at the end of a portion. */
  flush(): Promise<void>;
  /** Whether another session may be indexed. */
  goesOn(): boolean;
  /** Whether another portion may begin. */
  mayBeginPortion(): Promise<boolean>;
  /** Default: 5,000. */
  portion?: number | undefined;
}

/** Runs one pass over the indexed sessions; resolves to whether it went through all sessions of the home. */
export async function fillPass(deps: FillDeps): Promise<boolean> {
  const { connection, sessionIndex, sessionsDir, index, flush, goesOn, mayBeginPortion, portion = PORTION } = deps;
  // Attaching would create it.
  if (!existsSync(sessionIndex)) return false;
  const { all, exec } = connection;
  exec('ATTACH DATABASE @sessionIndex AS session_index', { sessionIndex });
  try {
    const hasAllSessions = all(FILLED).length > 0;
    for (const archived of [0, 1]) {
      let last: { updatedAt: number; id: string } | undefined = { updatedAt: Number.MAX_SAFE_INTEGER, id: '' };
      while (last) {
        if (!(await mayBeginPortion())) return false;
        const { updatedAt, id }: { updatedAt: number; id: string } = last;
        const rows = z.array(rowSchema).parse(all(COMPARED, { archived, updatedAt, id, portion }));
        // Before anything is awaited, because the rows may be outdated then.
        for (const { id: changed, archived: isArchived } of rows.filter(isShownWrongly)) {
          setArchived(connection, changed, isArchived);
        }
        for (const row of rows) {
          if (!isOutdated(row)) continue;
          if (!goesOn()) break;
          await index({ ...row, folder: join(sessionsDir, row.workspaceId, row.id) });
        }
        await flush();
        if (!goesOn()) return false;
        last = rows.length === portion ? rows.at(-1) : undefined;
      }
    }
    const removed = z.array(z.object({ id: z.string() })).parse(all(REMOVED, { portion }));
    for (const { id } of removed) removeSession(connection, id);
    return hasAllSessions;
  } finally {
    exec('DETACH DATABASE session_index');
  }
}
