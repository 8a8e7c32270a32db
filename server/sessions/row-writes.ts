/**
 * Rows on their way into the index. A transaction costs more than the row in it: what can wait some milliseconds is
 * written with others. What the file refuses is kept, and written when it takes it.
 */
import type { Logger } from '#server/logging/log.ts';
import type { Connection, IndexDb } from '#server/storage/index-db.ts';
import type { SessionHeader, StoredHeader } from './session-header.ts';
import { sessionRows as rows } from './session-rows.ts';

/** Longest wait for others. */
const SOON_MS = 10;

export interface RowWrites {
  /** Writes the row now, with all that waits. Never throws. */
  upsert(header: SessionHeader, journalLength: number): void;
  /** Writes the row with others; `isNew`: nobody has written it before. */
  upsertSoon(header: SessionHeader, journalLength: number, isNew?: boolean): void;
  /** Runs `work`; what it wrote is in the file behind it, together with that of other such work under way. */
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

interface Waiting {
  header: SessionHeader;
  journalLength: number;
  isNew: boolean;
}

interface RowWritesDeps {
  db: Pick<IndexDb, 'run'>;
  log: Logger;
  onRefused(): void;
}

export function createRowWrites({ db, log, onRefused }: RowWritesDeps): RowWrites {
  /** Newest of each session. */
  const waiting = new Map<string, Waiting>();
  /** Newest of each session; as many as sessions are live at most. */
  const unwritten = new Map<string, StoredHeader>();
  let timer: NodeJS.Timeout | undefined;
  /** Work of `together` under way, and who waits for its end. */
  let underWay = 0;
  let next: Promise<void> | undefined;
  let written = () => {};

  function write(batch: readonly Waiting[]): void {
    const each = (connection: Connection) => {
      for (const { header, journalLength } of batch) rows.upsert(connection, header, journalLength);
    };
    db.run((connection) => (batch.length === 1 ? each(connection) : connection.transaction(() => each(connection))));
    for (const { header } of batch) unwritten.delete(header.id);
  }

  function keep(batch: readonly Waiting[], error: unknown): void {
    for (const { header, journalLength } of batch) {
      const revision = (unwritten.get(header.id)?.revision ?? 0) + 1;
      unwritten.set(header.id, { header, journalLength, revision });
      log.error('a session could not be written to the index', { sessionId: header.id, err: error });
    }
    onRefused();
  }

  function flush(): void {
    if (waiting.size === 0) return;
    clearTimeout(timer);
    timer = undefined;
    const batch = [...waiting.values()];
    waiting.clear();
    try {
      write(batch);
    } catch (error) {
      keep(batch, error);
    }
    next = undefined;
    written();
  }

  function put(header: SessionHeader, journalLength: number, isNew: boolean): void {
    waiting.set(header.id, { header, journalLength, isNew: isNew || waiting.get(header.id)?.isNew === true });
  }

  const added = () => [...waiting.values()].flatMap(({ header, isNew }) => (isNew ? [header] : []));

  return {
    upsert(header, journalLength) {
      put(header, journalLength, false);
      flush();
    },
    upsertSoon(header, journalLength, isNew = false) {
      put(header, journalLength, isNew);
      timer ??= setTimeout(flush, SOON_MS).unref();
    },
    async together(work) {
      underWay += 1;
      const result = await work().finally(() => {
        underWay -= 1;
        if (underWay === 0) flush();
      });
      if (added().length > 0) await (next ??= new Promise((resolve) => (written = resolve)));
      return result;
    },
    flush,
    added,
    refused: (id) => unwritten.get(id),
    writeAgain(id) {
      for (const row of id === undefined ? [...unwritten.values()] : [unwritten.get(id)]) {
        if (row) write([{ ...row, isNew: false }]);
      }
    },
  };
}
