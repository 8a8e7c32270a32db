/**
 * Rows on their way into the index. A transaction costs more than the row in it, so those of sessions that are made at
 * the same time share one. What the file refuses is kept, and written when it takes it.
 */
import type { Logger } from '#server/logging/log.ts';
import type { Connection, IndexDb } from '#server/storage/index-db.ts';
import type { SessionHeader, StoredHeader } from './session-header.ts';
import { sessionRows as rows } from './session-rows.ts';

/** Longest wait for a session that takes longer to be made. */
const LONGEST_WAIT_MS = 10;

export interface RowWrites {
  /** Writes the row now. Never throws. */
  upsert(header: SessionHeader, journalLength: number): void;
  /** Writes the row of a new session, with others; to be called in `together`. */
  add(header: SessionHeader, journalLength: number): void;
  /** Runs `work`; what it added is in the file behind it, as is that of other such work under way. */
  together<T>(work: () => Promise<T>): Promise<T>;
  /** Writes what waits. */
  flush(): void;
  /** The rows of new sessions that wait. */
  added(): SessionHeader[];
  /** The row, if the file refused it. */
  refused(id: string): StoredHeader | undefined;
  /** Writes such rows again, that of `id` or all of them; throws what SQLite throws. */
  writeAgain(id?: string): void;
}

type Row = Pick<StoredHeader, 'header' | 'journalLength'>;

interface RowWritesDeps {
  db: Pick<IndexDb, 'run'>;
  log: Logger;
  onRefused(): void;
}

export function createRowWrites({ db, log, onRefused }: RowWritesDeps): RowWrites {
  /** Of new sessions. */
  const waiting = new Map<string, Row>();
  /** Newest of each session; as many as sessions are live at most. */
  const unwritten = new Map<string, StoredHeader>();
  let timer: NodeJS.Timeout | undefined;
  /** Work of `together` under way, and who waits for its end. */
  let underWay = 0;
  let next: Promise<void> | undefined;
  let written = () => {};

  function write(batch: readonly Row[]): void {
    const each = (connection: Connection) => {
      for (const { header, journalLength } of batch) rows.upsert(connection, header, journalLength);
    };
    db.run((connection) => (batch.length === 1 ? each(connection) : connection.transaction(() => each(connection))));
    for (const { header } of batch) unwritten.delete(header.id);
  }

  function keep(batch: readonly Row[], error: unknown): void {
    for (const { header, journalLength } of batch) {
      const revision = (unwritten.get(header.id)?.revision ?? 0) + 1;
      unwritten.set(header.id, { header, journalLength, revision });
      log.error('a session could not be written to the index', { sessionId: header.id, err: error });
    }
    onRefused();
  }

  function writeOrKeep(batch: readonly Row[]): void {
    try {
      write(batch);
    } catch (error) {
      keep(batch, error);
    }
  }

  function flush(): void {
    if (waiting.size === 0) return;
    clearTimeout(timer);
    timer = undefined;
    const batch = [...waiting.values()];
    waiting.clear();
    writeOrKeep(batch);
    next = undefined;
    written();
  }

  return {
    upsert(header, journalLength) {
      flush();
      writeOrKeep([{ header, journalLength }]);
    },
    add(header, journalLength) {
      waiting.set(header.id, { header, journalLength });
      timer ??= setTimeout(flush, LONGEST_WAIT_MS).unref();
    },
    async together(work) {
      underWay += 1;
      const result = await work().finally(() => {
        underWay -= 1;
        if (underWay === 0) flush();
      });
      if (waiting.size > 0) await (next ??= new Promise((resolve) => (written = resolve)));
      return result;
    },
    flush,
    added: () => [...waiting.values()].map(({ header }) => header),
    refused: (id) => unwritten.get(id),
    writeAgain(id) {
      for (const row of id === undefined ? [...unwritten.values()] : [unwritten.get(id)]) {
        if (row) write([row]);
      }
    },
  };
}
