/** Indexes cold sessions: portions of several journals are written in one transaction, which costs less. */
import type { Connection } from '#server/storage/derived-db.ts';
import { isTemporary, writePortions } from './index-journal.ts';
import type { Hint } from './messages.ts';
import { readPortions, TRANSACTION, type Portion } from './read-portions.ts';
import { noteFailure } from './sessions.ts';

export interface FillBatch {
  /** Indexes a session, or reads its journal until `flush` writes the last portion. Rejects as `indexJournal` does. */
  add(session: Hint): Promise<void>;
  /** Writes the portions that wait. Rejects with errors of SQLite. */
  flush(): Promise<void>;
}

export interface FillBatchDeps {
  connection: Connection;
  /** Indexes a session that could not be written with others. */
  indexAlone(session: Hint): Promise<void>;
  /** Resolves to whether another portion of a journal may be read, when that may be. */
  mayReadOn(): Promise<boolean>;
}

export function createFillBatch({ connection, indexAlone, mayReadOn }: FillBatchDeps): FillBatch {
  let portions: Portion[] = [];
  /** Sessions whose journal is read as far as it can be, with the byte offset after the last line. */
  let sessions: { session: Hint; reached: number | undefined }[] = [];
  /** Ids of sessions with a portion that was not written. */
  const unwritten = new Set<string>();

  const mayWait = (portion: Portion): boolean =>
    total([...portions, portion], 'documents') <= TRANSACTION.documents &&
    total([...portions, portion], 'units') <= TRANSACTION.units &&
    portions.length < TRANSACTION.documents;

  function write(): void {
    const written = portions;
    portions = [];
    try {
      for (const { source } of writePortions(connection, written, false)) unwritten.add(source.id);
    } catch (error) {
      if (isTemporary(error)) throw error;
      for (const { source } of written) unwritten.add(source.id);
    }
  }

  async function flush(): Promise<void> {
    const read = sessions;
    sessions = [];
    if (portions.length > 0) write();
    for (const { session, reached } of read) {
      if (unwritten.delete(session.id)) await indexAlone(session);
      // Most are read to their end, and a note would be a transaction.
      else if (reached !== session.length) noteFailure(connection, session, session.length);
    }
  }

  return {
    async add(session) {
      let reached: number | undefined;
      for await (const portion of readPortions(connection, session, session.length)) {
        if (!mayWait(portion)) await flush();
        portions.push(portion);
        reached = portion.end;
        if (reached < session.length && !(await mayReadOn())) return;
      }
      sessions.push({ session, reached });
    },
    flush,
  };
}

const total = (portions: readonly Portion[], member: 'documents' | 'units'): number =>
  portions.reduce((sum, portion) => sum + portion[member], 0);
