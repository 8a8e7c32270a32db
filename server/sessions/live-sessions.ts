/**
 * The sessions that are loaded in this process: opening, keeping the cold view up to date, unloading (core.md §5.2,
 * engine.md §17.3, §17.5). Lifecycle calls on one session run one after the other; concurrent loads share one.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentProgram } from '#server/agent/context.ts';
import type { Feature, UnloadReason } from '#server/agent/feature.ts';
import { errorMessage, ServiceError, sessionNotFound } from '#server/errors/service-error.ts';
import type { EventSink } from '#server/events/frame.ts';
import {
  createSessionLog,
  openSessionLog,
  type SessionLog,
  type SessionLogOptions,
} from '#server/journal/session-log.ts';
import type { Logger } from '#server/logging/log.ts';
import { errorCode } from '#server/files/errno.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import type { SessionIndex } from './session-index.ts';
import { foldedHeader, sessionOfHeader, type ColdFacts, type SessionHeader } from './session-header.ts';
import { createLiveSession, type LiveSession } from './session.ts';
import { createStateFiles } from './state-files.ts';

const IDLE_UNLOAD_MS = 30 * 60 * 1000;
const IDLE_CHECK_MS = 60 * 1000;
const MAX_LIVE = 200;
/** The request that used a session last may still be at work on it. */
const IN_USE_MS = 10 * 1000;

export interface LiveSessionsDeps {
  /** `<home>/sessions` */
  root: string;
  index: SessionIndex;
  sink: EventSink;
  /** In whose name sessions are locked. */
  holder: LeaseHolder;
  program: AgentProgram;
  features: readonly Feature[];
  /** Registers the workspace of a session again when it was removed from the registry (files.md §2.2). */
  ensureWorkspace(workspaceId: string, root: string): Promise<void>;
  subscribers(sessionId: string): number;
  /** Hands over the events of a session that wait to be joined. */
  flushEvents(sessionId: string): void;
  /** How long an approval or a question waits for its answer. */
  interactionLifetimeMs: number;
  version: string;
  log: Logger;
  now(): number;
  /** Sessions kept in memory before the longest unused ones are unloaded; 200 unless given. */
  maxLive?: number;
}

interface Entry {
  session: LiveSession;
  usedAt: number;
  /** Its journal is being closed; who wants the session loads it again afterwards. */
  unloading: boolean;
}

export interface LiveSessions {
  directory(row: Pick<SessionHeader, 'id' | 'workspaceId'>): string;
  /** Live, or undefined when cold. */
  get(id: string): LiveSession | undefined;
  all(): LiveSession[];
  /** Loads a cold session. Throws 40401, and 50001 when it cannot be loaded. */
  open(id: string): Promise<LiveSession>;
  /** Writes a new session, tells of it and keeps it live. Throws 50003, and then nothing is left of it. */
  create(row: SessionHeader): Promise<LiveSession>;
  /** Stores facts of the cold view, of a live or a cold session. Throws 50003, and then nothing has changed. */
  patch(id: string, change: (header: SessionHeader) => Partial<ColdChange>): Promise<void>;
  /** Stores what the journal of a live session tells; its file follows within seconds. */
  persist(id: string): void;
  /** Ends what runs and forgets the session; to be called in turn. */
  unload(id: string, reason: UnloadReason): Promise<void>;
  /** Unloads what nobody has used for 30 minutes, and the longest unused ones above the limit; runs every minute. */
  unloadIdle(): Promise<void>;
  inTurn<T>(id: string, work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** What changes without the session's lock. */
export type ColdChange = ColdFacts & Pick<SessionHeader, 'updatedAt'>;

/** Creates the set; loads nothing. */
export function createLiveSessions(deps: LiveSessionsDeps): LiveSessions {
  const { index, log, maxLive = MAX_LIVE } = deps;
  const live = new Map<string, Entry>();
  const loading = new Map<string, Promise<LiveSession>>();
  const lifecycles = new Map<string, Promise<unknown>>();
  const idleCheck = setInterval(() => void unloadIdle(), IDLE_CHECK_MS).unref();
  const files = createStateFiles({ index, log });
  let closed = false;

  function inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const mine = (lifecycles.get(id) ?? Promise.resolve()).then(work, work);
    lifecycles.set(id, mine);
    const forget = () => {
      if (lifecycles.get(id) === mine) lifecycles.delete(id);
    };
    mine.then(forget, forget);
    return mine;
  }

  const directory = (row: Pick<SessionHeader, 'id' | 'workspaceId'>) => join(deps.root, row.workspaceId, row.id);

  function storedHeader(id: string): SessionHeader {
    const row = index.get(id);
    if (!row) throw sessionNotFound(id);
    return row;
  }

  const logOptions = (row: Pick<SessionHeader, 'id' | 'workspaceId'>): SessionLogOptions => ({
    dir: directory(row),
    sessionId: row.id,
    sink: deps.sink,
    holder: deps.holder,
    log,
    version: deps.version,
    onFailure: (error) => {
      log.error('a session became read-only', { sessionId: row.id, err: error });
      live.get(row.id)?.session.agents.cancelTurns();
    },
    projections: deps.features.flatMap((feature) => feature.projection ?? []),
  });

  function activate(sessionLog: SessionLog, row: SessionHeader): Entry {
    const { id, workspaceId, cwd } = row;
    const dir = directory(row);
    const session = createLiveSession({
      place: { id, workspaceId, cwd, dir },
      log: sessionLog,
      program: deps.program,
      features: deps.features,
      // Who is not the writer may be behind another process, and the index never is.
      row: (stored = index.get(id) ?? row) =>
        sessionLog.claimed ? foldedHeader(sessionLog.state, stored, stored) : stored,
      flushEvents: () => deps.flushEvents(id),
      now: deps.now,
      interactionLifetimeMs: deps.interactionLifetimeMs,
      changed: () => persist(id),
      report: (what, error) => log.error(what, { sessionId: id, err: error }),
    });
    const entry: Entry = { session, usedAt: deps.now(), unloading: false };
    live.set(id, entry);
    return entry;
  }

  function persist(id: string): void {
    const session = live.get(id)?.session;
    if (!session) return;
    index.upsert(session.row(), session.log.length);
    files.writeSoon(id, session.log.dir);
  }

  /** Everything is written before anybody hears of the session; between its event and its row nothing is awaited for. */
  async function create(row: SessionHeader): Promise<LiveSession> {
    const dir = directory(row);
    try {
      const { titleKind = 'replaceable' } = row;
      const sessionLog = createSessionLog({
        ...logOptions(row),
        session: sessionOfHeader(row, undefined),
        titleKind,
      });
      index.upsert(row, sessionLog.length);
      return activate(sessionLog, row).session;
    } catch (error) {
      await rm(dir, { recursive: true, force: true }).catch(() => undefined);
      throw unwritable(row.id, error);
    }
  }

  async function patch(id: string, change: (header: SessionHeader) => Partial<ColdChange>): Promise<void> {
    const session = live.get(id)?.session;
    // Its row may have gone with the index.
    if (session && !index.get(id)) index.upsert(session.row(), session.log.length);
    const before = storedHeader(id);
    try {
      index.patch(id, change);
      await files.write(id, directory(before));
    } catch (error) {
      try {
        index.patch(id, () => before);
      } catch (second) {
        log.error('the index shows facts that were not stored', { sessionId: id, err: second });
      }
      throw unwritable(id, error);
    }
  }

  async function load(id: string): Promise<LiveSession> {
    await index.ready();
    const row = storedHeader(id);
    await deps.ensureWorkspace(row.workspaceId, row.cwd);
    let sessionLog: SessionLog;
    try {
      sessionLog = await openSessionLog(logOptions(row));
    } catch (error) {
      log.error('a session cannot be loaded', { sessionId: id, err: error });
      if (error instanceof ServiceError) throw error;
      throw new ServiceError('internal.error', `session ${id} cannot be loaded: ${reasonOf(error)}`, { cause: error });
    }
    const entry = activate(sessionLog, row);
    const folded = foldedHeader(sessionLog.state, row, row);
    const indexed = index.stored(id)?.journalLength ?? 0;
    // Settled just now, or the end of its server came before the row.
    if ((row.open && !folded.open) || indexed < sessionLog.length) {
      index.upsert(folded, sessionLog.length);
      if (sessionLog.claimed) files.writeSoon(id, sessionLog.dir);
    }
    return entry.session;
  }

  async function open(id: string): Promise<LiveSession> {
    const known = live.get(id);
    if (known && !known.unloading) {
      known.usedAt = deps.now();
      await known.session.log.refresh();
      return known.session;
    }
    if (closed) throw new ServiceError('internal.error', 'the server is stopping');
    let shared = loading.get(id);
    if (!shared) {
      shared = inTurn(id, async () => live.get(id)?.session ?? load(id)).finally(() => loading.delete(id));
      loading.set(id, shared);
    }
    return shared;
  }

  async function unloadNow(id: string, reason: UnloadReason): Promise<void> {
    const entry = live.get(id);
    if (!entry) return;
    entry.unloading = true;
    const { log: sessionLog } = entry.session;
    let wrote = false;
    try {
      const last = await entry.session.end(reason);
      wrote = sessionLog.claimed;
      await sessionLog.close(reason, last);
    } finally {
      live.delete(id);
      if (wrote) {
        const stored = index.get(id) ?? entry.session.row();
        index.upsert(foldedHeader(sessionLog.state, stored, stored), sessionLog.length);
        files.writeSoon(id, sessionLog.dir);
        await files.flush(id);
      }
    }
  }

  /** Nothing runs or waits in it and nobody looks on. */
  function isIdle({ session }: Entry): boolean {
    return !session.holds() && deps.subscribers(session.id) === 0;
  }

  async function unloadIdle(): Promise<void> {
    const unusedFor = (entry: Entry, ms: number) => deps.now() - entry.usedAt > ms;
    const idle = [...live.values()].filter(isIdle).toSorted((a, b) => a.usedAt - b.usedAt);
    const excess = live.size - maxLive;
    for (const [place, entry] of idle.entries()) {
      const { id } = entry.session;
      const allowedMs = place < excess ? IN_USE_MS : IDLE_UNLOAD_MS;
      // Looked at again in its turn: a request may have come while others were unloaded.
      const due = () => live.get(id) === entry && isIdle(entry) && unusedFor(entry, allowedMs);
      if (!due()) continue;
      await inTurn(id, async () => {
        if (due()) await unloadNow(id, 'idle');
      }).catch((error: unknown) => {
        log.error('an idle session could not be unloaded', { sessionId: id, err: error });
      });
    }
  }

  return {
    directory,
    get: (id) => live.get(id)?.session,
    all: () => [...live.values()].map((entry) => entry.session),
    open,
    create,
    patch,
    persist,
    unload: unloadNow,
    unloadIdle,
    inTurn,
    async close() {
      closed = true;
      clearInterval(idleCheck);
      await Promise.allSettled(loading.values());
      // One that fails must not keep the others from being stored.
      const unloads = await Promise.allSettled([...live.keys()].map((id) => inTurn(id, () => unloadNow(id, 'exit'))));
      for (const unload of unloads) {
        if (unload.status === 'rejected') log.error('a session could not be closed', { err: unload.reason });
      }
      await files.close();
    },
  };
}

/** The reason without the paths that messages of the file system carry. */
const reasonOf = (error: unknown) => errorCode(error) ?? errorMessage(error);

const unwritable = (id: string, error: unknown) =>
  new ServiceError('persistence.failure', `session ${id} cannot be written: ${reasonOf(error)}`, { cause: error });
