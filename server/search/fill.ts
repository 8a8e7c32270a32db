/** Finds sessions that the search index lacks, by comparing it with the session index, and indexes them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Connection } from '#server/storage/derived-db.ts';
import type { Hint } from './messages.ts';
import { removeSession, setArchived, storeNumber } from './sessions.ts';

/** Sessions of a portion, which are compared in one statement. */
const PORTION = 5_000;

const flag = z.literal([0, 1]).transform(Boolean);

const rowSchema = z.object({
  id: z.string(),
  workspaceId: z.string(),
  archived: flag,
  length: z.number(),
  isOutdated: flag,
  /** Null for one that is not indexed. */
  isShownWrongly: flag.nullable(),
});
const rowsSchema = z.array(rowSchema);
const idRows = z.array(z.object({ id: z.string() }));

/** A place in the order of the sessions. */
const placeSchema = z.object({ updatedAt: z.number(), id: z.string() });
const placesSchema = z.array(placeSchema);
type Place = z.infer<typeof placeSchema>;
const BEFORE_ALL: Place = { updatedAt: Number.MAX_SAFE_INTEGER, id: '' };
const AFTER_ALL: Place = { updatedAt: -1, id: '' };

/** The most recently updated first; an index of the table has this order. */
const IN_ORDER = 'ORDER BY updated_at DESC, id DESC';

/** The last session of a portion, which is followed by more. */
const LAST = `
  SELECT updated_at AS updatedAt, id FROM session_index.sessions
  WHERE archived = @archived AND (updated_at, id) < (@updatedAt, @id) ${IN_ORDER} LIMIT 1 OFFSET @portion - 1`;

/** The sessions of a portion that the index lacks or shows wrongly: a pass over an unchanged home returns no row. */
const DIFFERENT = `
  SELECT * FROM (
    SELECT i.id, i.workspace_id AS workspaceId, i.archived, i.journal_length AS length, i.updated_at,
      i.journal_length <> coalesce(s.length, 0) AND i.journal_length IS NOT s.failed_length AS isOutdated,
      s.archived <> i.archived AS isShownWrongly
    FROM session_index.sessions i LEFT JOIN sessions s ON s.id = i.id
    WHERE i.archived = @archived AND (i.updated_at, i.id) < (@updatedAt, @id)
      AND (i.updated_at, i.id) >= (@lastUpdatedAt, @lastId)
  ) WHERE isOutdated OR isShownWrongly ${IN_ORDER}`;

const REMOVED = `
  SELECT s.id FROM sessions s
  WHERE NOT EXISTS (SELECT 1 FROM session_index.sessions i WHERE i.id = s.id) LIMIT @portion`;

const FILLED = `SELECT 1 FROM session_index.facts WHERE name = 'filled'`;

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
  /** Whether another session may be removed. */
  mayRemove(): Promise<boolean>;
  /** Default: 5,000. */
  portion?: number | undefined;
}

/** Runs one pass over the indexed sessions; resolves to whether it went through all sessions of the home. */
export async function fillPass(deps: FillDeps): Promise<boolean> {
  const {
    connection,
    sessionIndex,
    sessionsDir,
    index,
    flush,
    goesOn,
    mayBeginPortion,
    mayRemove,
    portion = PORTION,
  } = deps;
  const { all } = connection;
  const reading = <T>(read: () => T): T | undefined => withSessionIndex(connection, sessionIndex, read);

  const isFilled = () => all(FILLED).length > 0;
  function readPortion(archived: number, before: Place) {
    const [last]: Place[] = placesSchema.parse(all(LAST, { archived, ...before, portion }));
    const { updatedAt: lastUpdatedAt, id: lastId } = last ?? AFTER_ALL;
    return { last, rows: rowsSchema.parse(all(DIFFERENT, { archived, ...before, lastUpdatedAt, lastId })) };
  }

  for (const archived of [0, 1]) {
    let before: Place | undefined = BEFORE_ALL;
    while (before) {
      if (!(await mayBeginPortion())) return false;
      const place: Place = before;
      const read = reading(() => readPortion(archived, place));
      if (!read) return false;
      const { last, rows } = read;
      // Before anything is awaited, because the rows may be outdated then.
      for (const row of rows) if (row.isShownWrongly) setArchived(connection, row.id, row.archived);
      for (const row of rows) {
        if (!row.isOutdated) continue;
        if (!goesOn()) break;
        await index({ ...row, folder: join(sessionsDir, row.workspaceId, row.id) });
      }
      await flush();
      if (!goesOn()) return false;
      before = last;
    }
  }
  // The file may have been replaced with one that has not all sessions.
  const removed = reading(() => (isFilled() ? idRows.parse(all(REMOVED, { portion })) : undefined));
  if (!removed) return false;
  for (const { id } of removed) {
    if (!(await mayRemove())) return false;
    await removeSession(connection, id);
  }
  storeNumber(connection);
  return true;
}

/**
 * Attaches the session index only for a read, undefined where there is none: while it is attached, a transaction of the search index locks it for
 * writing too, for which turns would wait.
 */
function withSessionIndex<T>({ exec }: Connection, sessionIndex: string, read: () => T): T | undefined {
  // Attaching would create it.
  if (!existsSync(sessionIndex)) return undefined;
  exec('ATTACH DATABASE @sessionIndex AS session_index', { sessionIndex });
  try {
    return read();
  } finally {
    exec('DETACH DATABASE session_index');
  }
}
