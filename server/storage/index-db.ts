/**
 * The one SQLite file behind every list: `cache/index-v1.db`. All servers of a home write it, so each sees the others'
 * sessions at once. It is derived: whatever is wrong with the file, it is made again, empty, and filled from the folders.
 */
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import Database from 'libsql';
import { z } from 'zod';
import type { Logger } from '#server/logging/log.ts';
import { errorCode } from '#server/files/errno.ts';

/** Rises with every change of the tables below. */
const SCHEMA_VERSION = 1;
/** How long a statement waits for another process's write; both are far under a millisecond in practice. */
const BUSY_TIMEOUT_MS = 2_000;

/** A page in list order comes straight from an index; ids are compared as bytes (BINARY). */
const SCHEMA = `
  CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    workspace_id TEXT NOT NULL,
    cwd TEXT NOT NULL,
    title TEXT NOT NULL,
    title_kind TEXT,
    last_prompt TEXT,
    last_turn_reason TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    archived INTEGER NOT NULL,
    archived_at INTEGER,
    custom TEXT NOT NULL,
    open INTEGER NOT NULL,
    parent_session_id TEXT,
    child_session_kind TEXT,
    forked_from TEXT,
    revision INTEGER NOT NULL,
    indexed_at INTEGER NOT NULL,
    state_mtime REAL
  );
  CREATE INDEX sessions_all ON sessions (updated_at, id);
  CREATE INDEX sessions_archived ON sessions (archived, updated_at, id);
  CREATE INDEX sessions_prompted ON sessions (archived, updated_at, id) WHERE last_prompt IS NOT NULL;
  CREATE INDEX sessions_workspace ON sessions (workspace_id, updated_at, id);
  CREATE INDEX sessions_parent ON sessions (parent_session_id, updated_at, id) WHERE parent_session_id IS NOT NULL;
  CREATE INDEX sessions_open ON sessions (id) WHERE open = 1;
`;

/** Named parameters. No booleans: the binding ends the process on one. */
export type AgentConfig = Record<string, string | number | null>;

export interface Connection {
  all(sql: string, binding?: AgentConfig): unknown[];
  /** Returns the number of changed rows. */
  run(sql: string, binding?: AgentConfig): number;
  /** All of `work` or nothing; takes the write lock at its beginning. */
  transaction(work: () => void): void;
}

export interface IndexDb {
  /**
   * Runs `use` on the open database; the first call opens it. Found corrupt, the file is made again, empty, and `use`
   * runs once more. Throws whatever else SQLite throws.
   */
  run<T>(use: (connection: Connection) => T): T;
  /** Whether the rows of the folders have been read into this file. */
  filled(): boolean;
  markFilled(): void;
  /** `listener` hears that the file was found damaged and is empty now. */
  onRemade(listener: () => void): void;
  /** Lets go of a file that was removed or replaced from outside; the next use opens the one that is there. */
  refresh(): Promise<void>;
  /** Final; later calls of `run` throw. */
  close(): void;
}

const DAMAGED = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_IOERR_SHORT_READ'];
const isDamage = (error: unknown) => DAMAGED.some((code) => errorCode(error)?.startsWith(code));

const versionRows = z.tuple([z.object({ user_version: z.number() })]);

function connect(database: Database.Database): Connection {
  // One statement a text; the texts are ours, so the map is small.
  const statements = new Map<string, Database.Statement<[AgentConfig]>>();
  const prepared = (sql: string) => {
    const known = statements.get(sql);
    if (known) return known;
    const statement = database.prepare<[AgentConfig]>(sql);
    statements.set(sql, statement);
    return statement;
  };
  return {
    all: (sql, binding = {}) => prepared(sql).all(binding),
    run: (sql, binding = {}) => prepared(sql).run(binding).changes,
    transaction: (work) => database.transaction(work).immediate(),
  };
}

/** Empty tables, unless another process has just made them. */
function createTables(database: Database.Database): void {
  database
    .transaction(() => {
      const [{ user_version: version }] = versionRows.parse(database.pragma('user_version'));
      if (version === SCHEMA_VERSION) return;
      database.exec('DROP TABLE IF EXISTS sessions; DROP TABLE IF EXISTS facts;');
      database.exec(SCHEMA);
      database.pragma(`user_version = ${SCHEMA_VERSION}`);
    })
    .immediate();
}

/** Opens nothing yet. */
export function createIndexDb({ home, log }: { home: string; log: Logger }): IndexDb {
  const path = join(home, 'cache', 'index-v1.db');
  const remadeListeners: (() => void)[] = [];
  let closed = false;
  let opened: { database: Database.Database; connection: Connection; inode: number } | undefined;

  function open() {
    if (closed) throw new Error('the index database is closed');
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const database = new Database(path);
    try {
      database.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
      database.pragma('journal_mode = WAL');
      database.pragma('synchronous = NORMAL');
      createTables(database);
      return { database, connection: connect(database), inode: statSync(path).ino };
    } catch (error) {
      database.close();
      throw error;
    }
  }

  function release(): void {
    opened?.database.close();
    opened = undefined;
  }

  function remake(error: unknown): void {
    log.warn('the session index is damaged and is made again', { path, err: error });
    release();
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
  }

  function run<T>(use: (connection: Connection) => T): T {
    try {
      opened ??= open();
      return use(opened.connection);
    } catch (error) {
      if (!isDamage(error)) throw error;
      remake(error);
      opened = open();
      for (const listener of remadeListeners) listener();
      return use(opened.connection);
    }
  }

  return {
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
