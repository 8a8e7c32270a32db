/**
 * The index of all sessions of a home, a SQLite table. Lists and counts read it without opening a workspace or a
 * journal. Each change of a session updates its row; the pass over the folders, once a minute or less often, only
 * repairs.
 */
import * as z from 'zod';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Connection } from '#server/storage/derived-db.ts';
import type { SessionIndexDb } from '#server/storage/index-db.ts';
import { takeOverRows } from './earlier-rows.ts';
import { repairPass, type ReadSessionFolder } from './repair-pass.ts';
import { IN_WORKSPACE, WAKES, type ColdFields, type SessionHeader, type StoredHeader } from './session-header.ts';
import { firstKeys, readListed, type ListEntry, type ListRange, type SessionSort } from './listed-sessions.ts';
import { countByWorkspace, countSessions } from './session-counts.ts';
import type { SessionFilter } from './session-filter.ts';
import { createRowWrites } from './row-writes.ts';
import { readPage, type PageQuery, type SessionPage } from './session-page.ts';
import { sessionRows } from './session-rows.ts';
import type { FileStamp } from './state-file.ts';

const REPAIR_EVERY_MS = 60_000;
const RETRY_AFTER_MS = 5_000;
/** A pass over the folders of 100,000 sessions takes seconds: the rest after it is so many times as long. */
const REST_PER_PASS = 200;
/** In intervals between passes. */
const LONGEST_REST = 15;

/** Milliseconds until the next pass after one that took `passMs`, so that an idle server uses half a percent of a core. */
export const restAfter = (passMs: number, repairEveryMs: number): number =>
  Math.max(repairEveryMs, Math.min(passMs * REST_PER_PASS, LONGEST_REST * repairEveryMs));

export interface SessionIndex {
  /** Resolves when the index is filled; the first call opens the file and starts the repair passes. */
  ready(): Promise<void>;
  /** Resolves with `ready`, but opens nothing. */
  readonly usable: Promise<void>;
  /**
   * Stores the header derived from a journal of that length; members that no journal has stay unchanged. Never throws:
   * a row that could not be written is kept in memory and written again every 5 s.
   */
  upsert(header: SessionHeader, journalLength: number): void;
  /**
   * Stores members that no journal has, derived from the row's present ones, in one transaction. Does nothing without a
   * row. Throws if the row cannot be written.
   */
  patch(id: string, change: (header: SessionHeader) => Partial<ColdFields & { updatedAt: number }>): void;
  get(id: string): SessionHeader | undefined;
  /** Like `get`, with revision and journal length, as `state.json` is written from them. */
  stored(id: string): StoredHeader | undefined;
  /** Records that the session's `state.json` was written from that revision of the row. */
  mirrored(id: string, revision: number, stamp: FileStamp): void;
  list(query: PageQuery): SessionPage;
  /** Returns the sessions of a range of the v2 list. */
  listed(filter: SessionFilter, range: ListRange): ListEntry[];
  /** Returns the number of sessions that the filter selects. */
  count(filter: SessionFilter): number;
  /** Returns the first key of the sort, in ms, of each workspace id with selected sessions. */
  firstKeys(filter: SessionFilter, sort: SessionSort): Map<string, number>;
  /** Returns the headers of the indexed sessions among these ids, by id. */
  headers(ids: Iterable<string>): Map<string, SessionHeader>;
  /** All workspace ids with sessions, including archived ones and children: their number, and the directory of one. */
  workspaces(): { workspaceId: string; cwd: string; sessions: number }[];
  /** Id of the session created last that is not archived. */
  newestId(): string | undefined;
  /** Sessions with an open turn, task or compaction: running in a live process, or to be settled after a crash. */
  openRows(): SessionHeader[];
  /** Unarchived sessions that features want loaded after a start (`wakes`), newest first. */
  wakingRows(): SessionHeader[];
  /**
   * Runs one pass over the folders, which finds sessions that were added, changed or removed without the index.
   * Resolves like `repairPass`.
   */
  repair(): Promise<boolean>;
  /** Ends the passes and closes the database. */
  close(): Promise<void>;
}

export interface SessionIndexDeps {
  /** Closed with the index. */
  db: SessionIndexDb;
  log: Logger;
  /** `<home>/sessions` */
  sessionsDir: string;
  read: ReadSessionFolder;
  repairEveryMs?: number;
  retryAfterMs?: number;
}

const idRows = z.array(z.object({ id: z.string() }));
const directoryRows = z.array(z.object({ cwd: z.string() }));

/** SQLite would read the index of all sessions, because it knows no better how many each index has. */
const WAKING = `INDEXED BY sessions_waking WHERE ${WAKES} AND archived = 0 ORDER BY updated_at DESC, id DESC`;

/** Creates the index; `ready` opens its file. */
export function createSessionIndex(deps: SessionIndexDeps): SessionIndex {
  const { db, log, sessionsDir, read, repairEveryMs = REPAIR_EVERY_MS, retryAfterMs = RETRY_AFTER_MS } = deps;
  const rows = sessionRows;
  const writes = createRowWrites({ db, log, onRefused: () => schedule(retryAfterMs) });
  /** The directory of each workspace id with sessions; an id belongs to one directory. */
  const directories = new Map<string, string>();
  const passedOver = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let pass: Promise<boolean> | undefined;
  let started = false;
  let closed = false;
  /** Whether a damaged file was replaced: the file of the earlier version may be older than its rows were. */
  let remade = false;
  let setUsable = () => {};
  const usable = new Promise<void>((resolve) => (setUsable = resolve));

  function schedule(delay: number): void {
    clearTimeout(timer);
    if (started && !closed) timer = setTimeout(() => void repairOrRetry(), delay).unref();
  }

  async function repairOnce(): Promise<boolean> {
    await db.load();
    await db.refresh();
    writes.writeAgain();
    let filled = db.filled();
    if (!filled && !remade && (await takeOverRows({ db, log, stopped: () => closed }))) {
      db.markFilled();
      filled = true;
    }
    if (filled) setUsable();
    const refused = await repairPass({ db, rows, log, sessionsDir, read, stopped: () => closed, passedOver });
    if (!filled && !closed) db.markFilled();
    return refused;
  }

  /** Runs one pass at a time; calls during a pass share it. Resolves to whether another pass soon may find more. */
  function repair(): Promise<boolean> {
    pass ??= repairOnce().finally(() => {
      pass = undefined;
    });
    return pass;
  }

  async function repairOrRetry(): Promise<void> {
    const begun = performance.now();
    try {
      const isRefused = await repair();
      schedule(isRefused ? retryAfterMs : restAfter(performance.now() - begun, repairEveryMs));
    } catch (error) {
      log.error('the session index could not be repaired', { err: error });
      schedule(retryAfterMs);
    }
    setUsable();
  }

  db.onRemade(() => {
    remade = true;
    schedule(0);
  });

  /** Runs a query. Throws `persistence.failure` with the reason, which the reply of a list must contain. */
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
    const sql = `SELECT cwd FROM sessions WHERE ${IN_WORKSPACE} LIMIT 1`;
    const [row] = directoryRows.parse(query(({ all }) => all(sql, { workspace: workspaceId })));
    if (row) directories.set(workspaceId, row.cwd);
    return row?.cwd;
  }

  return {
    ready() {
      if (!started) {
        started = true;
        void repairOrRetry();
      }
      return usable;
    },
    usable,
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
        // The next pass reads the file, because its stamp is not recorded.
        log.warn('the index could not take note of a state.json', { sessionId: id, err: error });
      }
    },
    list: (page) => query((connection) => readPage(connection, page)),
    listed: (filter, range) => query((connection) => readListed(connection, filter, range)),
    count: (filter) => query((connection) => countSessions(connection, filter)),
    firstKeys: (filter, sort) => query((connection) => firstKeys(connection, filter, sort)),
    headers(ids) {
      const tail = 'WHERE id IN (SELECT value FROM json_each(@ids))';
      const found = query((connection) => rows.headers(connection, tail, { ids: JSON.stringify([...ids]) }));
      return new Map(found.map((header) => [header.id, header]));
    },
    workspaces: () =>
      query(countByWorkspace).flatMap(({ workspaceId, sessions }) => {
        const cwd = directoryOf(workspaceId);
        return cwd === undefined ? [] : [{ workspaceId, cwd, sessions }];
      }),
    newestId() {
      const sql = 'SELECT id FROM sessions WHERE archived = 0 ORDER BY created_at DESC, id DESC LIMIT 1';
      return idRows.parse(query(({ all }) => all(sql)))[0]?.id;
    },
    openRows: () => query((connection) => rows.headers(connection, 'WHERE open = 1 ORDER BY id')),
    wakingRows: () => query((connection) => rows.headers(connection, WAKING)),
    repair,
    async close() {
      closed = true;
      clearTimeout(timer);
      // The caller that started the pass receives its failure.
      await pass?.catch(() => undefined);
      await db.checkpointed();
      db.close();
    },
  };
}
