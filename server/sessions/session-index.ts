/**
 * The index of all sessions of the home: what lists and counts read, so that none of them opens a workspace or a
 * journal. Whoever changes a session changes its row first; the minute pass over the folders is only a repair.
 */
import { z } from 'zod';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Connection, IndexDb } from '#server/storage/index-db.ts';
import { repairPass, type ReadSessionFolder } from './repair-pass.ts';
import { WAKES, type ColdFacts, type SessionHeader, type StoredHeader } from './session-header.ts';
import { createRowWrites } from './row-writes.ts';
import { readPage, type PageQuery, type SessionPage } from './session-page.ts';
import { sessionRows } from './session-rows.ts';
import type { FileStamp } from './state-file.ts';

const REPAIR_EVERY_MS = 60_000;
const RETRY_AFTER_MS = 5_000;

export interface SessionIndex {
  /** Resolves when the rows of the folders are in; the first call opens the file and starts the repair passes. */
  ready(): Promise<void>;
  /**
   * Stores what a journal of that length tells; facts that no journal has stay as they are. Never throws: a row that
   * could not be written is kept and tried again every 5 s.
   */
  upsert(header: SessionHeader, journalLength: number): void;
  /**
   * Stores facts that no journal has, made from those that are there, whoever wrote them. Does nothing without a row.
   * Throws when it cannot be written.
   */
  patch(id: string, change: (header: SessionHeader) => Partial<ColdFacts & { updatedAt: number }>): void;
  get(id: string): SessionHeader | undefined;
  /** As `get`, with what the session's file is made from. */
  stored(id: string): StoredHeader | undefined;
  /** The session's file is on the disk as the row of that revision has it. */
  mirrored(id: string, revision: number, stamp: FileStamp): void;
  list(query: PageQuery): SessionPage;
  /** Every workspace id that has sessions, archived ones and children included: how many, and the directory of one. */
  workspaces(): { workspaceId: string; cwd: string; sessions: number }[];
  /** Of the session created last that is not archived. */
  newestId(): string | undefined;
  /** Sessions in which something is open: of a live process, or to be settled after a crash. */
  openRows(): SessionHeader[];
  /** Sessions that features want loaded after a start (`wakes`), without archived ones; the newest first. */
  wakingRows(): SessionHeader[];
  /** One pass over the folders: finds sessions that other means added, changed or removed. Resolves as `repairPass` does. */
  repair(): Promise<boolean>;
  /** Ends the passes and closes the database. */
  close(): Promise<void>;
}

export interface SessionIndexDeps {
  /** Closed with the index. */
  db: IndexDb;
  log: Logger;
  /** `<home>/sessions` */
  sessionsDir: string;
  read: ReadSessionFolder;
  repairEveryMs?: number;
  retryAfterMs?: number;
}

const idRows = z.array(z.object({ id: z.string() }));
const countRows = z.array(z.object({ workspaceId: z.string(), sessions: z.number() }));
const directoryRows = z.array(z.object({ cwd: z.string() }));

/** Writes nothing yet; `ready` opens the file. */
export function createSessionIndex(deps: SessionIndexDeps): SessionIndex {
  const { db, log, sessionsDir, read, repairEveryMs = REPAIR_EVERY_MS, retryAfterMs = RETRY_AFTER_MS } = deps;
  const rows = sessionRows;
  const writes = createRowWrites({ db, log, onRefused: () => schedule(retryAfterMs) });
  /** Of each workspace id that has sessions; an id stands for one directory. */
  const directories = new Map<string, string>();
  const passedOver = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let pass: Promise<boolean> | undefined;
  let started = false;
  let closed = false;
  let usable = () => {};
  const whenUsable = new Promise<void>((resolve) => (usable = resolve));

  function schedule(delay: number): void {
    clearTimeout(timer);
    if (started && !closed) timer = setTimeout(() => void repairOrRetry(), delay).unref();
  }

  async function repairOnce(): Promise<boolean> {
    await db.refresh();
    writes.writeAgain();
    const filled = db.filled();
    if (filled) usable();
    const refused = await repairPass({ db, rows, log, sessionsDir, read, stopped: () => closed, passedOver });
    if (!filled && !closed) db.markFilled();
    return refused;
  }

  /** One at a time: a call during a pass shares it. Resolves to whether another one soon may find more. */
  function repair(): Promise<boolean> {
    pass ??= repairOnce().finally(() => {
      pass = undefined;
    });
    return pass;
  }

  async function repairOrRetry(): Promise<void> {
    try {
      schedule((await repair()) ? retryAfterMs : repairEveryMs);
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

  function stored(id: string): StoredHeader | undefined {
    return writes.refused(id) ?? query((connection) => rows.stored(connection, id));
  }

  function directoryOf(workspaceId: string): string | undefined {
    const known = directories.get(workspaceId);
    if (known !== undefined) return known;
    const sql = 'SELECT cwd FROM sessions WHERE workspace_id = @workspaceId LIMIT 1';
    const [row] = directoryRows.parse(query(({ all }) => all(sql, { workspaceId })));
    if (row) directories.set(workspaceId, row.cwd);
    return row?.cwd;
  }

  return {
    ready() {
      if (!started) {
        started = true;
        void repairOrRetry();
      }
      return whenUsable;
    },
    upsert: writes.upsert,
    patch(id, change) {
      writes.writeAgain(id);
      db.run((connection) => {
        connection.transaction(() => {
          const header = rows.stored(connection, id)?.header;
          if (header) rows.patch(connection, id, { ...header, ...change(header) });
        });
      });
    },
    get: (id) => stored(id)?.header,
    stored,
    mirrored(id, revision, stamp) {
      try {
        db.run((connection) => rows.mirrored(connection, id, revision, stamp));
      } catch (error) {
        // The next pass finds a file that it does not know and reads it.
        log.warn('the index could not take note of a state.json', { sessionId: id, err: error });
      }
    },
    list: (page) => query((connection) => readPage(connection, page)),
    workspaces() {
      const sql = 'SELECT workspace_id AS workspaceId, sessions FROM session_counts WHERE sessions > 0';
      return countRows.parse(query(({ all }) => all(sql))).flatMap(({ workspaceId, sessions }) => {
        const cwd = directoryOf(workspaceId);
        return cwd === undefined ? [] : [{ workspaceId, cwd, sessions }];
      });
    },
    newestId() {
      const sql = 'SELECT id FROM sessions WHERE archived = 0 ORDER BY created_at DESC, id DESC LIMIT 1';
      return idRows.parse(query(({ all }) => all(sql)))[0]?.id;
    },
    openRows: () => query((connection) => rows.headers(connection, 'WHERE open = 1 ORDER BY id')),
    wakingRows: () =>
      query((connection) =>
        rows.headers(connection, `WHERE ${WAKES} AND archived = 0 ORDER BY updated_at DESC, id DESC`),
      ),
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
