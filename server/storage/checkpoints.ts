/**
 * Checkpoints of a SQLite write-ahead log outside of the event loop's thread, which would otherwise wait for the disk
 * (`fsync`) in the middle of a statement. They run on another connection, whose calls the library executes in threads
 * of its own; unlike a worker thread, these may be in a call when the process exits.
 */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { yieldToLoop } from '#server/async/yield.ts';
import type { Logger } from '#server/logging/log.ts';

/** Changed rows after which a checkpoint starts: some 6 MB of log, as each row changes several pages. */
const ROWS = 250;
/**
 * Pages of a large log, after which each change starts a checkpoint: writers reuse the log from its start only if no
 * row was changed during the last one.
 */
const LARGE_LOG_PAGES = 4_096;
/**
 * Pages of the log after which a writer runs the checkpoint itself, so that the log stays bounded if the other
 * connection fails, or if rows are changed without a pause.
 */
export const WRITER_CHECKPOINT_PAGES = 8_192;
const PAGE_BYTES = 4_096;
/** Size to which a writer cuts the log when it reuses it: cutting a file takes a writer as long as an `fsync`. */
export const LARGEST_LOG_BYTES = WRITER_CHECKPOINT_PAGES * PAGE_BYTES;

/** The used part of `libsql/promise`. */
interface AsyncStatement {
  /** The library's thread runs the statement up to its first row. */
  all(): Promise<unknown>;
}
interface AsyncConnection {
  prepare(sql: string): Promise<AsyncStatement>;
  close(): void;
}
type AsyncDatabase = new (path: string) => AsyncConnection;

const resultRows = z.tuple([z.object({ log: z.number() })]);

export interface Checkpoints {
  /** Counts changed rows of the current or the last transaction; after enough of them a checkpoint starts. */
  changed(rows: number): void;
  /** Resolves when no checkpoint runs. */
  settled(): Promise<void>;
  /** Closes the connection; if a checkpoint runs, after it. */
  close(): void;
}

export interface CheckpointsOptions {
  /** Path of an existing database. */
  path: string;
  /** For log messages. */
  name: string;
  /** File of the library. */
  libsql: string;
  log: Pick<Logger, 'warn'>;
}

/** Creates the checkpoints of an open database; the first one opens its connection. */
export function createCheckpoints({ path, name, libsql, log }: CheckpointsOptions): Checkpoints {
  let connection: AsyncConnection | undefined;
  let statement: AsyncStatement | undefined;
  let changedRows = 0;
  let enoughRows = ROWS;
  let running: Promise<void> | undefined;
  let isFailing = false;
  let closed = false;

  async function open(): Promise<AsyncStatement> {
    const Database: AsyncDatabase = createRequire(libsql)(join(dirname(libsql), 'promise.js'));
    // Without the mode, it would create a file that was removed.
    connection ??= new Database(`${pathToFileURL(path).href}?mode=rw`);
    return connection.prepare('PRAGMA wal_checkpoint(PASSIVE)');
  }

  async function checkpoint(): Promise<void> {
    statement ??= await open();
    const [{ log: pages }] = resultRows.parse(await statement.all());
    enoughRows = pages > LARGE_LOG_PAGES ? 1 : ROWS;
  }

  async function run(): Promise<void> {
    while (changedRows >= enoughRows) {
      // The transaction that counted the rows has been committed.
      await yieldToLoop();
      if (closed) return;
      changedRows = 0;
      try {
        await checkpoint();
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.warn(`a checkpoint of ${name} failed`, { path, err: error });
        isFailing = true;
        enoughRows = ROWS;
      }
    }
  }

  return {
    changed(rows) {
      changedRows += rows;
      if (changedRows < enoughRows || closed) return;
      running ??= run().finally(() => {
        running = undefined;
      });
    },
    async settled() {
      await running;
    },
    close() {
      closed = true;
      // Closed during a call, it would close the database in the library's thread while this one opens it again.
      if (running) void running.then(() => connection?.close());
      else connection?.close();
    },
  };
}
