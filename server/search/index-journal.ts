/** Indexes the journal of a session, from where its last indexing ended. */
import { yieldToLoop } from '#server/async/yield.ts';
import { errorCode } from '#server/errors/errno.ts';
import type { Connection } from '#server/storage/derived-db.ts';
import { FileLockError } from '#server/storage/file-locks.ts';
import { isSqliteError } from '#server/storage/read-only-db.ts';
import { readPortions, type Portion } from './read-portions.ts';
import { readSession, type JournalSource } from './sessions.ts';
import { addDocuments, nextNumber, removeFrom } from './write-documents.ts';

export interface IndexingOptions {
  /** Number the documents above all others: they are the most recent ones. */
  newest: boolean;
  /** Called between transactions; the indexing ends there if it resolves to false. */
  goesOn(): Promise<boolean>;
}

/** Whether the index cannot be written at the moment, or no more files can be opened: no fault of the journal. */
export const isTemporary = (error: unknown): boolean =>
  isSqliteError(error) || error instanceof FileLockError || ['EMFILE', 'ENFILE'].includes(errorCode(error) ?? '');

/**
 * Indexes the complete lines up to byte `length` of the journal. Rejects with `internal.error` for a damaged line, with
 * errors of the file system and of SQLite.
 */
export async function indexJournal(
  connection: Connection,
  source: JournalSource,
  length: number,
  { newest, goesOn }: IndexingOptions,
): Promise<void> {
  let isOvertaken: boolean;
  do {
    isOvertaken = false;
    for await (const portion of readPortions(connection, source, length)) {
      isOvertaken = writePortions(connection, [portion], newest).length > 0;
      // Files are read synchronously; messages of the main thread arrive here.
      await yieldToLoop();
      if (isOvertaken || !(await goesOn())) break;
    }
  } while (isOvertaken);
}

/**
 * Writes portions in one transaction. Returns those that were not written, because another server indexed their
 * sessions meanwhile.
 */
export function writePortions(connection: Connection, portions: readonly Portion[], newest: boolean): Portion[] {
  const overtaken: Portion[] = [];
  connection.transaction(() => {
    let next = nextNumber(connection, newest);
    for (const portion of portions) {
      const { source, epoch, from, end, fold, changes } = portion;
      const { number, ...session } = readSession(connection, source, epoch);
      if (session.length !== from || session.epoch !== epoch) {
        overtaken.push(portion);
        continue;
      }
      const reached = 'UPDATE sessions SET length = @end, fold = @fold, failed_length = NULL WHERE number = @number';
      connection.run(reached, { number, end, fold });
      // A portion has no document that one of its removals would remove.
      const documents = changes.flatMap((change) => (change.kind === 'put' ? [change.document] : []));
      for (const change of changes) {
        if (change.kind === 'removeFrom') removeFrom(connection, number, change.agentId, change.record);
      }
      addDocuments(connection, next, number, documents);
      next += documents.length;
    }
  });
  return overtaken;
}
