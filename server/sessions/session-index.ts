/**
 * The index of all sessions of the home (records.md §3.6, architecture "Storage"): what lists and counts read, so that
 * none of them opens a workspace or a journal. Whoever changes a session calls `upsert` when it writes `state.json`; the
 * minute pass over the folders is only a repair.
 */
import { z } from 'zod';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { AgentConfig, Connection, IndexDb } from '#server/storage/index-db.ts';
import { repairPass, type ReadSessionFolder } from './repair-pass.ts';
import { readPage, type PageQuery, type SessionPage } from './session-page.ts';
import { parseRows, ROW_COLUMNS, rowBinding, type SessionRow } from './session-row.ts';

const REPAIR_EVERY_MS = 60_000;
const RETRY_AFTER_MS = 5_000;

export interface SessionIndex {
  /** Resolves when the rows of the folders are in; the first call opens the file and starts the repair passes. */
  ready(): Promise<void>;
  /** Stores a row whole. Never throws: a row that could not be written is kept and tried again every 5 s. */
  upsert(row: SessionRow): void;
  get(id: string): SessionRow | undefined;
  list(query: PageQuery): SessionPage;
  /** Sessions of each id, archived ones and children included; an id without sessions is absent. */
  countByWorkspace(ids: readonly string[]): Map<string, number>;
  /** Every workspace id that has sessions, with the directory of one of them. */
  workDirs(): { workspaceId: string; cwd: string }[];
  /** Sessions in which something is open: of a live process, or to be settled after a crash. */
  openRows(): SessionRow[];
  /** One pass over the folders: sessions that came, changed or went without this index hearing of it. */
  repair(): Promise<void>;
  /** Ends the passes and closes the database. */
  close(): Promise<void>;
}

export interface SessionIndexDeps {
  /** Closed with the index. */
  db: IndexDb;
  log: Logger;
  /** `<home>/sessions` */
  sessionsDir: string;
  /** Reads a session's folder; undefined when it holds no session. */
  read: ReadSessionFolder;
  repairEveryMs?: number;
  retryAfterMs?: number;
}

const countRows = z.array(z.object({ workspace_id: z.string(), count: z.number() }));
const workDirRows = z.array(z.object({ workspace_id: z.string(), cwd: z.string() }));

/** Steps from one distinct id to the next in the index instead of reading all rows. */
const WORK_DIRS = `
  WITH RECURSIVE workspaces (id) AS (
    SELECT min(workspace_id) FROM sessions
    UNION ALL
    SELECT (SELECT min(workspace_id) FROM sessions WHERE workspace_id > workspaces.id) FROM workspaces WHERE id IS NOT NULL
  )
  SELECT id AS workspace_id, (SELECT cwd FROM sessions WHERE workspace_id = workspaces.id LIMIT 1) AS cwd
  FROM workspaces WHERE id IS NOT NULL`;

const COLUMNS = `${ROW_COLUMNS}, parent_session_id, child_session_kind`.split(/,\s+/);

/** `@seen`: write only over that revision (0: only a new row); null writes over any. */
const UPSERT = `
  INSERT INTO sessions (${COLUMNS.join(', ')}, revision, indexed_at, state_mtime)
  VALUES (${COLUMNS.map((name) => `@${name}`).join(', ')}, 1, @indexed_at, @state_mtime)
  ON CONFLICT (id) DO UPDATE SET
    ${COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')},
    revision = sessions.revision + 1,
    indexed_at = excluded.indexed_at,
    state_mtime = excluded.state_mtime
  WHERE @seen IS NULL OR sessions.revision = @seen`;

/** Writes nothing yet; `ready` opens the file. */
export function createSessionIndex(deps: SessionIndexDeps): SessionIndex {
  const { db, log, sessionsDir, read, repairEveryMs = REPAIR_EVERY_MS, retryAfterMs = RETRY_AFTER_MS } = deps;
  /** Rows whose write failed, newest of each session; as many as sessions are live at most. */
  const unwritten = new Map<string, SessionRow>();
  const passedOver = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let pass: Promise<void> | undefined;
  let started = false;
  let closed = false;
  let usable = () => {};
  const whenUsable = new Promise<void>((resolve) => (usable = resolve));

  const write = (connection: Connection, row: SessionRow) =>
    connection.run(UPSERT, { ...rowBinding(row), seen: null, indexed_at: Date.now(), state_mtime: null });

  function schedule(delay: number): void {
    clearTimeout(timer);
    if (started && !closed) timer = setTimeout(() => void repairOrRetry(), delay).unref();
  }

  function writeAgain(): void {
    for (const [id, row] of unwritten) {
      db.run((connection) => write(connection, row));
      unwritten.delete(id);
    }
  }

  async function repairOnce(): Promise<void> {
    await db.refresh();
    writeAgain();
    const filled = db.filled();
    if (filled) usable();
    await repairPass({ db, log, sessionsDir, read, upsertSql: UPSERT, stopped: () => closed, passedOver });
    if (!filled && !closed) db.markFilled();
  }

  /** One at a time: a call during a pass shares it. */
  function repair(): Promise<void> {
    pass ??= repairOnce().finally(() => {
      pass = undefined;
    });
    return pass;
  }

  async function repairOrRetry(): Promise<void> {
    try {
      await repair();
      schedule(repairEveryMs);
    } catch (error) {
      log.error('the session index could not be repaired', { err: error });
      schedule(retryAfterMs);
    }
    usable();
  }

  db.onRemade(() => schedule(0));

  /** Reading a list must say what is wrong with the index. */
  function query<T>(use: (connection: Connection) => T): T {
    try {
      return db.run(use);
    } catch (error) {
      throw new ServiceError('persistence.failure', `the session index cannot be read: ${errorMessage(error)}`, {
        cause: error,
      });
    }
  }

  const rows = (sql: string, binding?: AgentConfig) => query(({ all }) => parseRows(all(sql, binding)));

  return {
    ready() {
      if (!started) {
        started = true;
        void repairOrRetry();
      }
      return whenUsable;
    },
    upsert(row) {
      unwritten.delete(row.id);
      try {
        db.run((connection) => write(connection, row));
      } catch (error) {
        unwritten.set(row.id, row);
        log.error('a session could not be written to the index', { sessionId: row.id, err: error });
        schedule(retryAfterMs);
      }
    },
    get: (id) => unwritten.get(id) ?? rows(`SELECT ${ROW_COLUMNS} FROM sessions WHERE id = @id`, { id })[0],
    list: (page) => query((connection) => readPage(connection, page)),
    countByWorkspace(ids) {
      const sql = `SELECT workspace_id, count(*) AS count FROM sessions
        WHERE workspace_id IN (SELECT value FROM json_each(@ids)) GROUP BY workspace_id`;
      const found = countRows.parse(query(({ all }) => all(sql, { ids: JSON.stringify(ids) })));
      return new Map(found.map((row) => [row.workspace_id, row.count]));
    },
    workDirs() {
      const found = workDirRows.parse(query(({ all }) => all(WORK_DIRS)));
      return found.map(({ workspace_id, cwd }) => ({ workspaceId: workspace_id, cwd }));
    },
    openRows: () => rows(`SELECT ${ROW_COLUMNS} FROM sessions WHERE open = 1 ORDER BY id`),
    repair,
    async close() {
      closed = true;
      clearTimeout(timer);
      // Whoever began the pass hears of its failure.
      await pass?.catch(() => undefined);
      db.close();
    },
  };
}
