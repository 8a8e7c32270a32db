/**
 * A SQLite file of derived data in a home's `cache/`, which all servers of the home write: if it is damaged, it is created
 * again, empty, and filled from the folders.
 */
import { closeSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type Database from 'libsql';
import * as z from 'zod';
import { yieldToLoop } from '#server/async/yield.ts';
import type { Logger } from '#server/logging/log.ts';
import { errorCode } from '#server/errors/errno.ts';
import { createCheckpoints, LARGEST_LOG_BYTES, WRITER_CHECKPOINT_PAGES, type Checkpoints } from './checkpoints.ts';
import { FileLockError, openFileLocks, type FileLocks } from './file-locks.ts';
import { locksWork } from './lock-probe.ts';
import { isUnwritable, openReadOnly } from './read-only-db.ts';

/** How long a statement waits for another process's write; both usually take far less than a millisecond. */
const BUSY_TIMEOUT_MS = 2_000;
const RETRY_AFTER_MS = 2;
/** Interval of probes whether file locks work again. */
const PROBE_EVERY_MS = 2_000;
/** Size of the write-ahead log at which a write copies it into the file, and to which it is cut then. */
const LOG_BYTES = 4 * 1024 * 1024;
const DEFAULT_PAGE_BYTES = 4_096;

/** The tables; each version has a separate file, so that servers of different versions do not interfere. */
export interface IndexSchema {
  version: number;
  /** Bytes of a page of a new file; default: SQLite's. */
  pageBytes?: number;
  sql: string;
}

/** Named parameters. No booleans: the binding crashes the process on one. */
export type SqlParameters = Record<string, string | number | null>;

export interface Connection {
  all(sql: string, binding?: SqlParameters): unknown[];
  /** Changes rows, in the running transaction or in one of its own; returns their number. */
  run(sql: string, binding?: SqlParameters): number;
  /** Runs a statement that cannot be part of a transaction, such as ATTACH. */
  exec(sql: string, binding?: SqlParameters): void;
  /** Runs `work` in one transaction; acquires the write lock at its start. */
  transaction(work: () => void): void;
}

export interface IndexDb {
  /**
   * Runs `use` on the open database; the first call opens it. If the file is corrupt, it is created again, empty, and
   * `use` is retried a single time. A file that cannot be written is opened for reading, where it exists. Throws
   * SQLite's other errors; while file locks fail it throws immediately.
   */
  run<T>(use: (connection: Connection) => T): T;
  /** True if the file can only be read. */
  readOnly(): boolean;
  /**
   * Loads the library, in a turn of the event loop of its own: with the opening that follows, it takes tens of
   * milliseconds.
   */
  load(): Promise<void>;
  /** True if the sessions of the folders have been read into this file. */
  filled(): boolean;
  markFilled(): void;
  /** Registers a listener that is called after a damaged file was replaced with an empty one. */
  onRemade(listener: () => void): void;
  /**
   * Closes a file that was removed or replaced from outside, and one that could only be read; the next use opens the
   * current one. Resolves to whether it closed a file.
   */
  refresh(): Promise<boolean>;
  /** Resolves when no checkpoint runs in the background. */
  checkpointed(): Promise<void>;
  /** Closes permanently; later calls of `run` throw. */
  close(): void;
}

const DAMAGED = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_IOERR_SHORT_READ'];
const isDamage = (error: unknown) => DAMAGED.some((code) => errorCode(error)?.startsWith(code));

const schemaRows = z.tuple([z.object({ user_version: z.number() })]);

/** Returns the connection of an open database. `onChanged` receives the numbers of changed rows. */
export function connect(database: Database.Database, onChanged?: (rows: number) => void): Connection {
  // Prepared statements by text; all texts are constants, so the map stays small.
  const statements = new Map<string, Database.Statement<[SqlParameters]>>();
  const prepared = (sql: string) => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = database.prepare<[SqlParameters]>(sql);
    statements.set(sql, statement);
    return statement;
  };
  function changes(sql: string, binding: SqlParameters): number {
    const { changes: rows } = prepared(sql).run(binding);
    onChanged?.(rows);
    return rows;
  }
  return {
    all: (sql, binding = {}) => prepared(sql).all(binding),
    run(sql, binding = {}) {
      if (database.inTransaction) return changes(sql, binding);
      // A statement that waited in vain for the write lock would stay open, and no transaction could be committed.
      const transaction = database.transaction(() => changes(sql, binding)) as { immediate(): number };
      return transaction.immediate();
    },
    exec: (sql, binding = {}) => void prepared(sql).run(binding),
    transaction: (work) => database.transaction(work).immediate(),
  };
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

export interface DerivedDbOptions {
  path: string;
  /** For log messages: "the session index". */
  name: string;
  schema: IndexSchema;
  /** File of the library. Called on the first use of the database, which is after the server's start. */
  libsql: () => string;
  /** Runs each call into the library; default: directly. */
  guard?: <T>(call: () => T) => T;
  /** Whether checkpoints run in the background; by default, a write that makes the log long runs one. */
  backgroundCheckpoints?: boolean;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

interface Opened {
  database: Database.Database;
  connection: Connection;
  checkpoints: Checkpoints | undefined;
  inode: number;
  readOnly: boolean;
}

/** Where no lock file can be created, the database is only read. */
const noLocks: FileLocks = { check: () => undefined, close: () => undefined };

/** Creates the database without opening a file. */
export function createDerivedDb(options: DerivedDbOptions): IndexDb {
  const { path, name, schema, libsql, guard = (call) => call(), backgroundCheckpoints = false, log } = options;
  function loadSqlite(): typeof Database {
    const file = libsql();
    return createRequire(file)(file);
  }
  const remadeListeners: (() => void)[] = [];
  let closed = false;
  /** Error of the file locks while they fail: each use of the index would block the event loop for 10 s. */
  let locksFail: Error | undefined;
  let locks: FileLocks | undefined;
  let opened: Opened | undefined;

  function openOnce(): Database.Database {
    // SQLite gives its companion files the same mode.
    closeSync(openSync(path, 'a', 0o600));
    const database = new (loadSqlite())(path);
    try {
      database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
      if (schema.pageBytes !== undefined) database.pragma(`page_size = ${schema.pageBytes}`);
      database.pragma('journal_mode = WAL');
      database.pragma('synchronous = NORMAL');
      database.pragma(`journal_size_limit = ${backgroundCheckpoints ? LARGEST_LOG_BYTES : LOG_BYTES}`);
      const checkpointPages = backgroundCheckpoints
        ? WRITER_CHECKPOINT_PAGES
        : LOG_BYTES / (schema.pageBytes ?? DEFAULT_PAGE_BYTES);
      database.pragma(`wal_autocheckpoint = ${checkpointPages}`);
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
    if (closed) throw new Error(`${name} is closed`);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    try {
      return openFileLocks(loadSqlite(), join(dirname(path), 'index-locks'));
    } catch (error) {
      if (isUnwritable(error)) return noLocks;
      throw error;
    }
  }

  function openToRead(cause: unknown): Database.Database {
    const database = isUnwritable(cause) ? openReadOnly(loadSqlite(), path, schema.version) : undefined;
    if (!database) throw cause;
    return database;
  }

  function open(): Opened {
    let database: Database.Database;
    let readOnly = false;
    try {
      database = openPatiently();
    } catch (error) {
      database = openToRead(error);
      readOnly = true;
    }
    const checkpoints =
      backgroundCheckpoints && !readOnly ? createCheckpoints({ path, name, libsql: libsql(), log }) : undefined;
    const connection = connect(database, checkpoints?.changed);
    return { database, connection, checkpoints, inode: statSync(path).ino, readOnly };
  }

  function release(): void {
    opened?.checkpoints?.close();
    opened?.database.close();
    opened = undefined;
    locks?.close();
    locks = undefined;
  }

  function remake(error: unknown): void {
    log.warn(`${name} is damaged and is made again`, { path, err: error });
    release();
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  }

  async function awaitLocks(): Promise<void> {
    for (;;) {
      await delay(PROBE_EVERY_MS, undefined, { ref: false });
      if (closed) return;
      if (await locksWork(path, libsql())) break;
    }
    locksFail = undefined;
    log.info(`file locks of ${name} work again`, { path });
  }

  function use<T>(work: (connection: Connection) => T): T {
    if (locksFail) throw locksFail;
    try {
      locks ??= openLocks();
      locks.check();
      opened ??= open();
      return work(opened.connection);
    } catch (error) {
      if (error instanceof FileLockError || (error instanceof Error && errorCode(error) === 'SQLITE_PROTOCOL')) {
        log.error(`file locks of ${name} fail; it is not used until they work`, { path, err: error });
        locksFail = error;
        void awaitLocks();
      }
      // The next use opens what can still be read.
      if (isUnwritable(error) && opened?.readOnly === false) release();
      if (!isDamage(error)) throw error;
      remake(error);
      opened = open();
      for (const listener of remadeListeners) listener();
      return work(opened.connection);
    }
  }

  const run = <T>(work: (connection: Connection) => T): T => guard(() => use(work));

  return {
    run,
    async load() {
      guard(loadSqlite);
      await yieldToLoop();
    },
    readOnly: () => run(() => opened?.readOnly === true),
    filled: () => run(({ all }) => all(`SELECT value FROM facts WHERE name = 'filled'`).length > 0),
    markFilled: () => void run((db) => db.run(`INSERT OR REPLACE INTO facts VALUES ('filled', '1')`)),
    async refresh() {
      if (!opened) return false;
      const { inode } = opened;
      const present = await stat(path).catch((error: unknown) => {
        if (errorCode(error) === 'ENOENT') return undefined;
        throw error;
      });
      if (opened?.inode !== inode || (present?.ino === inode && !opened.readOnly)) return false;
      guard(release);
      return true;
    },
    async checkpointed() {
      await opened?.checkpoints?.settled();
    },
    onRemade: (listener) => void remadeListeners.push(listener),
    close() {
      closed = true;
      guard(release);
    },
  };
}
