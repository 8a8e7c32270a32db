/**
 * The SQLite file of all session lists: `cache/index-v<n>.db`. All servers of a home write it, so each sees the others'
 * sessions immediately. It is derived data: if it is damaged, it is created again, empty, and filled from the folders.
 */
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type Database from 'libsql';
import { z } from 'zod';
import type { Logger } from '#server/logging/log.ts';
import { errorCode } from '#server/errors/errno.ts';
import { FileLockError, openFileLocks, type FileLocks } from './file-locks.ts';
import { locksWork } from './lock-probe.ts';

/** How long a statement waits for another process's write; both usually take far less than a millisecond. */
const BUSY_TIMEOUT_MS = 2_000;
const RETRY_AFTER_MS = 2;
/** Interval of probes whether file locks work again. */
const PROBE_EVERY_MS = 2_000;

/** The tables; each version has a separate file, so that servers of different versions do not interfere. */
export interface IndexSchema {
  version: number;
  sql: string;
}

/** Named parameters. No booleans: the binding crashes the process on one. */
export type SqlParameters = Record<string, string | number | null>;

export interface Connection {
  all(sql: string, binding?: SqlParameters): unknown[];
  /** Returns the number of changed rows. */
  run(sql: string, binding?: SqlParameters): number;
  /** Runs `work` in one transaction; acquires the write lock at its start. */
  transaction(work: () => void): void;
}

export interface IndexDb {
  /**
   * Runs `use` on the open database; the first call opens it. If the file is corrupt, it is created again, empty, and
   * `use` is retried a single time. Throws SQLite's other errors; while file locks fail it throws immediately.
   */
  run<T>(use: (connection: Connection) => T): T;
  /** True if the sessions of the folders have been read into this file. */
  filled(): boolean;
  markFilled(): void;
  /** Registers a listener that is called after a damaged file was replaced with an empty one. */
  onRemade(listener: () => void): void;
  /** Path of the file of the schema version before this one, which may exist. */
  readonly earlierPath: string;
  /** Closes a file that was removed or replaced from outside; the next use opens the current one. */
  refresh(): Promise<void>;
  /** Closes permanently; later calls of `run` throw. */
  close(): void;
}

const DAMAGED = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_IOERR_SHORT_READ'];
const isDamage = (error: unknown) => DAMAGED.some((code) => errorCode(error)?.startsWith(code));

const schemaRows = z.tuple([z.object({ user_version: z.number() })]);

function connect(database: Database.Database): Connection {
  // Prepared statements by text; all texts are constants, so the map stays small.
  const statements = new Map<string, Database.Statement<[SqlParameters]>>();
  const prepared = (sql: string) => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = database.prepare<[SqlParameters]>(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    all: (sql, binding = {}) => prepared(sql).all(binding),
    run: (sql, binding = {}) => prepared(sql).run(binding).changes,
    transaction: (work) => database.transaction(work).immediate(),
  };
}

/** Loaded on the first use of a database, which is after the server's start. */
function loadSqlite(): typeof Database {
  return createRequire(import.meta.url)('libsql');
}

/** Creates the tables unless another process has just created them. */
function createTables(database: Database.Database, { version, sql }: IndexSchema): void {
  database
    .transaction(() => {
      const [{ user_version: present }] = schemaRows.parse(database.pragma('user_version'));
      if (present === version) return;
      database.exec(sql);
      database.pragma(`user_version = ${version}`);
    })
    .immediate();
}

export interface IndexDbOptions {
  home: string;
  schema: IndexSchema;
  log: Logger;
}

/** Creates the index without opening a file. */
export function createIndexDb({ home, schema, log }: IndexDbOptions): IndexDb {
  const pathOf = (version: number) => join(home, 'cache', `index-v${version}.db`);
  const path = pathOf(schema.version);
  const remadeListeners: (() => void)[] = [];
  let closed = false;
  /** Error of the file locks while they fail: each use of the index would block the event loop for 10 s. */
  let locksFail: Error | undefined;
  let locks: FileLocks | undefined;
  let opened: { database: Database.Database; connection: Connection; inode: number } | undefined;

  function openOnce(): Database.Database {
    const database = new (loadSqlite())(path);
    try {
      database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
      database.pragma('journal_mode = WAL');
      database.pragma('synchronous = NORMAL');
      createTables(database, schema);
      return database;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** If two processes switch a new file to WAL, SQLite refuses one immediately despite its timeout; it retries. */
  function openPatiently(): Database.Database {
    const end = performance.now() + BUSY_TIMEOUT_MS;
    for (;;) {
      try {
        return openOnce();
      } catch (error) {
        if (errorCode(error) !== 'SQLITE_BUSY' || performance.now() > end) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_AFTER_MS);
      }
    }
  }

  function openLocks(): FileLocks {
    if (closed) throw new Error('the index database is closed');
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return openFileLocks(loadSqlite(), join(dirname(path), 'index-locks'));
  }

  function open() {
    const database = openPatiently();
    return { database, connection: connect(database), inode: statSync(path).ino };
  }

  function release(): void {
    opened?.database.close();
    opened = undefined;
    locks?.close();
    locks = undefined;
  }

  function remake(error: unknown): void {
    log.warn('the session index is damaged and is made again', { path, err: error });
    release();
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  }

  async function awaitLocks(): Promise<void> {
    for (;;) {
      await delay(PROBE_EVERY_MS, undefined, { ref: false });
      if (closed) return;
      if (await locksWork(path)) break;
    }
    locksFail = undefined;
    log.info('file locks of the session index work again', { path });
  }

  function run<T>(use: (connection: Connection) => T): T {
    if (locksFail) throw locksFail;
    try {
      locks ??= openLocks();
      locks.check();
      opened ??= open();
      return use(opened.connection);
    } catch (error) {
      if (error instanceof FileLockError || (error instanceof Error && errorCode(error) === 'SQLITE_PROTOCOL')) {
        log.error('file locks of the session index fail; it is not used until they work', { path, err: error });
        locksFail = error;
        void awaitLocks();
      }
      if (!isDamage(error)) throw error;
      remake(error);
      opened = open();
      for (const listener of remadeListeners) listener();
      return use(opened.connection);
    }
  }

  return {
    earlierPath: pathOf(schema.version - 1),
    run,
    filled: () => run(({ all }) => all(`SELECT value FROM facts WHERE name = 'filled'`).length > 0),
    markFilled: () => void run((db) => db.run(`INSERT OR REPLACE INTO facts VALUES ('filled', '1')`)),
    async refresh() {
      if (!opened) return;
      const { inode } = opened;
      const present = await stat(path).catch((error: unknown) => {
        if (errorCode(error) === 'ENOENT') return undefined;
        throw error;
      });
      if (present?.ino !== inode && opened?.inode === inode) release();
    },
    onRemade: (listener) => void remadeListeners.push(listener),
    close() {
      closed = true;
      release();
    },
  };
}
