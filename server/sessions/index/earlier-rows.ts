/** Copies the rows of the index of the schema version before this one, so that no list waits for reads of all folders. */
import { stat } from 'node:fs/promises';
import * as z from 'zod';
import { yieldToLoop } from '#server/async/yield.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Connection, IndexDb } from '#server/storage/derived-db.ts';
import type { SessionIndexDb } from '#server/storage/index-db.ts';
import { headerColumns } from './session-header.ts';

/** Rows that are copied in one transaction, during which the event loop is blocked. */
const PORTION = 500;

const COLUMNS = [...headerColumns, 'revision', 'journal_length', 'state_mtime', 'state_size'];

/** Rows that this server wrote meanwhile are newer. */
const COPY = `INSERT INTO main.sessions (${COLUMNS.join(', ')})
  SELECT ${COLUMNS.join(', ')} FROM earlier.sessions WHERE rowid > @after AND rowid <= @last
  ON CONFLICT DO NOTHING`;
const LAST = `SELECT max(rowid) AS last FROM
  (SELECT rowid FROM earlier.sessions WHERE rowid > @after ORDER BY rowid LIMIT ${PORTION})`;

const names = z.array(z.object({ name: z.string() }));
const lastRow = z.tuple([z.object({ last: z.number().nullable() })]);

/** Whether the attached file contains all sessions, with all columns of this version. */
function isComplete({ all }: Connection): boolean {
  const columns = names.parse(all(`SELECT name FROM pragma_table_info('sessions', 'earlier')`)).map(({ name }) => name);
  if (!COLUMNS.every((column) => columns.includes(column))) return false;
  return all(`SELECT value FROM earlier.facts WHERE name = 'filled'`).length > 0;
}

/** Returns the last row number copied; undefined after the last portion. */
function copyPortion({ all, run }: Connection, after: number): number | undefined {
  const [{ last }] = lastRow.parse(all(LAST, { after }));
  if (last === null) return undefined;
  run(COPY, { after, last });
  return last;
}

/** SQLite's errors concern the attached file: they must not be mistaken for damage of the index. */
function attempt<T>(db: Pick<IndexDb, 'run'>, use: (connection: Connection) => T): T {
  const result = db.run((connection): { value: T } | { error: unknown } => {
    try {
      return { value: use(connection) };
    } catch (error) {
      return { error };
    }
  });
  if ('error' in result) throw result.error;
  return result.value;
}

/**
 * Copies all rows in portions. Resolves to false without such a file, if it lacks a column or sessions, if it cannot be
 * read, or after `stopped`: then the folders are read.
 */
export async function takeOverRows({
  db,
  log,
  stopped,
}: {
  db: Pick<SessionIndexDb, 'run' | 'earlierPath'>;
  log: Logger;
  stopped(): boolean;
}): Promise<boolean> {
  const path = db.earlierPath;
  // Attaching a missing file would create it.
  const exists = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!exists || stopped()) return false;
  try {
    attempt(db, ({ exec }) => exec('ATTACH DATABASE @path AS earlier', { path }));
    try {
      if (!attempt(db, isComplete)) return false;
      for (let after: number | undefined = 0; after !== undefined;) {
        const from: number = after;
        after = attempt(db, (connection) => copyPortion(connection, from));
        await yieldToLoop();
        if (stopped()) return false;
      }
    } finally {
      attempt(db, ({ exec }) => exec('DETACH DATABASE earlier'));
    }
    return true;
  } catch (error) {
    log.warn('the rows of the earlier session index cannot be taken over; the folders are read', { path, err: error });
    return false;
  }
}
