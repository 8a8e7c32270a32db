/** The index's rows of sessions. */
import * as z from 'zod';
import { yieldToLoop } from '#server/async/yield.ts';
import type { Connection } from '#server/storage/derived-db.ts';
import { removeSome } from './write-documents.ts';

/** Documents that are removed in one transaction. */
const REMOVED_AT_ONCE = 64;

/** A session whose journal is to be indexed. */
export interface JournalSource {
  id: string;
  workspaceId: string;
  archived: boolean;
  /** The session's folder. */
  folder: string;
}

export interface IndexedSession {
  number: number;
  epoch: string;
  /** Bytes of its journal that are indexed. */
  length: number;
  /** The projection's state at that place. */
  fold: string;
}

const sessionRow = z.object({ number: z.number(), epoch: z.string(), length: z.number(), fold: z.string() });
const SESSION = 'SELECT number, epoch, length, fold FROM sessions WHERE id = @id';

/** Returns the session's row; undefined for a session that is not indexed yet. */
export function findSession({ all }: Connection, id: string): IndexedSession | undefined {
  return z.array(sessionRow).parse(all(SESSION, { id }))[0];
}

/** The number of sessions: to count the rows takes long when they are not in memory. */
export const SESSIONS = `coalesce((SELECT value FROM facts WHERE name = 'sessions'), (SELECT count(*) FROM sessions))`;

/** Counts the sessions and stores their number; the functions that add and remove sessions change it then. */
export function storeNumber({ run }: Connection): void {
  run(`INSERT OR REPLACE INTO facts SELECT 'sessions', count(*) FROM sessions`);
}

/** Part of the transaction that added or removed a session. */
function changeNumber({ run }: Connection, added: number): void {
  if (added !== 0) run(`UPDATE facts SET value = value + @added WHERE name = 'sessions'`, { added });
}

/** Returns the session's row; creates it for a session that is not indexed yet. Part of a transaction. */
export function readSession(connection: Connection, source: JournalSource, epoch: string): IndexedSession {
  const { all, run } = connection;
  const { id, workspaceId, archived } = source;
  const added = run(
    `INSERT INTO sessions (id, workspace_id, archived, epoch, length, fold, documents)
     VALUES (@id, @workspaceId, @archived, @epoch, 0, '[]', 0) ON CONFLICT (id) DO NOTHING`,
    { id, workspaceId, archived: Number(archived), epoch },
  );
  changeNumber(connection, added);
  const [row] = z.tuple([sessionRow]).parse(all(SESSION, { id }));
  return row;
}

/** `length` of a session whose documents are being removed: no server indexes it before that has ended. */
const RESETTING = -1;

export const isBeingReset = ({ length }: IndexedSession): boolean => length === RESETTING;

/** Removes all documents of a session, in several transactions, so that its journal is indexed from its start. */
export async function resetSession(connection: Connection, number: number, epoch: string): Promise<void> {
  const { run } = connection;
  run(`UPDATE sessions SET length = ${RESETTING}, fold = '[]', epoch = @epoch WHERE number = @number`, {
    number,
    epoch,
  });
  await removeDocuments(connection, number);
  run(`UPDATE sessions SET length = 0 WHERE number = @number AND length = ${RESETTING}`, { number });
}

/** Queries go between its transactions. */
async function removeDocuments(connection: Connection, number: number): Promise<void> {
  while (removePart(connection, number)) await yieldToLoop();
}

/** Returns whether documents are left. Another server may end the reset first, and then add documents. */
function removePart(connection: Connection, number: number): boolean {
  const sql = `SELECT 1 FROM sessions WHERE number = @number AND length = ${RESETTING}`;
  let isMore = false;
  connection.transaction(() => {
    const isResetting = connection.all(sql, { number }).length > 0;
    isMore = isResetting && removeSome(connection, number, REMOVED_AT_ONCE);
  });
  return isMore;
}

/**
 * Records that a journal of that length could not be indexed to its end, so that it is tried again only when it changes;
 * does nothing for one that is indexed to its end.
 */
export function noteFailure(connection: Connection, source: JournalSource, length: number): void {
  const { run, transaction } = connection;
  const { id, workspaceId, archived } = source;
  transaction(() => {
    const added = run(
      `INSERT INTO sessions (id, workspace_id, archived, epoch, length, fold, documents)
       VALUES (@id, @workspaceId, @archived, '', 0, '[]', 0) ON CONFLICT (id) DO NOTHING`,
      { id, workspaceId, archived: Number(archived) },
    );
    changeNumber(connection, added);
    run('UPDATE sessions SET failed_length = @length WHERE id = @id AND length <> @length', { id, length });
  });
}

/** Sets whether hits of the session are shown; does nothing for a session that is not indexed. */
export function setArchived({ run }: Connection, id: string, archived: boolean): void {
  run('UPDATE sessions SET archived = @archived WHERE id = @id AND archived <> @archived', {
    id,
    archived: Number(archived),
  });
}

const numberRows = z.array(z.object({ number: z.number() }));

/** Removes a session whose folder was removed. */
export async function removeSession(connection: Connection, id: string): Promise<void> {
  const rows = numberRows.parse(connection.all('SELECT number FROM sessions WHERE id = @id', { id }));
  for (const { number } of rows) {
    connection.run(`UPDATE sessions SET length = ${RESETTING} WHERE number = @number`, { number });
    await removeDocuments(connection, number);
    connection.transaction(() => {
      const sql = `DELETE FROM sessions WHERE number = @number AND length = ${RESETTING}`;
      changeNumber(connection, -connection.run(sql, { number }));
    });
  }
}
