/** Writes rows of the index. A row that SQLite refuses is kept in memory and written again later. */
import type { Logger } from '#server/logging/log.ts';
import type { IndexDb } from '#server/storage/derived-db.ts';
import type { SessionHeader, StoredHeader } from './session-header.ts';
import { sessionRows as rows } from './session-rows.ts';

export interface RowWrites {
  /** Writes the row, or keeps it when SQLite refuses it. Never throws. */
  upsert(header: SessionHeader, journalLength: number): void;
  /** The row of `id` that SQLite refused and that is not written yet. */
  refused(id: string): StoredHeader | undefined;
  /** Writes refused rows again: that of `id`, default all of them. Throws what SQLite throws. */
  writeAgain(id?: string): void;
}

interface RowWritesDeps {
  db: Pick<IndexDb, 'run'>;
  log: Logger;
  onRefused(): void;
}

export function createRowWrites({ db, log, onRefused }: RowWritesDeps): RowWrites {
  /** The newest refused row of each session; bounded by the number of live sessions. */
  const unwritten = new Map<string, StoredHeader>();

  function write(header: SessionHeader, journalLength: number): void {
    db.run((connection) => rows.upsert(connection, header, journalLength));
    unwritten.delete(header.id);
  }

  return {
    upsert(header, journalLength) {
      try {
        write(header, journalLength);
      } catch (error) {
        const revision = (unwritten.get(header.id)?.revision ?? 0) + 1;
        unwritten.set(header.id, { header, journalLength, revision });
        log.error('a session could not be written to the index', { sessionId: header.id, err: error });
        onRefused();
      }
    },
    refused: (id) => unwritten.get(id),
    writeAgain(id) {
      for (const row of id === undefined ? [...unwritten.values()] : [unwritten.get(id)]) {
        if (row) write(row.header, row.journalLength);
      }
    },
  };
}
