/**
 * The sessions that are loaded in this process: opening, keeping the cold view up to date, unloading (core.md §5.2,
 * engine.md §17.3, §17.5). Lifecycle calls on one session run one after the other; concurrent loads share one.
 */
import { mkdir, rm } from 'node:fs/promises';
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
import { createStateFile, STATE_VERSION, type StateDocument, type StateFile } from './state-file.ts';
import { indexRow } from './index-rows.ts';
import type { Logger } from '#server/logging/log.ts';
import { errorCode } from '#server/files/errno.ts';
import type { SessionIndex } from './session-index.ts';
import type { SessionRow } from './session-row.ts';
import { sessionView } from './session-view.ts';
import { createLiveSession, type LiveSession } from './session.ts';

const IDLE_UNLOAD_MS = 30 * 60 * 1000;
const IDLE_CHECK_MS = 60 * 1000;
const MAX_LIVE = 200;
/** The request that used a session last may still be at work on it. */
const IN_USE_MS = 10 * 1000;

/** Facts that only the cold view holds. They change without the session's lock, so the index has them, not a process. */
export type ColdFacts = Partial<Pick<SessionRow, 'archived' | 'archivedAt' | 'custom' | 'updatedAt'>>;

export interface LiveSessionsDeps {
  /** `<home>/sessions` */
  root: string;
  index: SessionIndex;
  sink: EventSink;
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
  state: StateFile;
  usedAt: number;
  /** Its journal is being closed; who wants the session loads it again afterwards. */
  unloading: boolean;
}

export interface LiveSessions {
  directory(row: Pick<SessionRow, 'id' | 'workspaceId'>): string;
  /** Live, or undefined when cold. */
  get(id: string): LiveSession | undefined;
  all(): LiveSession[];
  /** Loads a cold session. Throws 40401, and 50001 when it cannot be loaded. */
  open(id: string): Promise<LiveSession>;
  /** Writes a new session, tells of it and keeps it live. Throws 50003, and then nothing is left of it. */
  create(row: SessionRow): Promise<LiveSession>;
  /** Stores facts of the cold view, of a live or a cold session. Throws 50003, and then nothing has changed. */
  patch(id: string, facts: ColdFacts): Promise<void>;
  /** Ends what runs and forgets the session; to be called in turn. */
  unload(id: string, reason: UnloadReason): Promise<void>;
  /** Unloads what nobody has used for 30 minutes, and the longest unused ones above the limit; runs every minute. */
  unloadIdle(): Promise<void>;
  inTurn<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** The most recently created session that is live. */
  newest(): LiveSession | undefined;
  close(): Promise<void>;
}

/** Creates the set; loads nothing. */
export function createLiveSessions(deps: LiveSessionsDeps): LiveSessions {
  const { index, log, maxLive = MAX_LIVE } = deps;
  const live = new Map<string, Entry>();
  const loading = new Map<string, Promise<LiveSession>>();
  const lifecycles = new Map<string, Promise<unknown>>();
  const idleCheck = setInterval(() => void unloadIdle(), IDLE_CHECK_MS).unref();
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

  const directory = (row: Pick<SessionRow, 'id' | 'workspaceId'>) => join(deps.root, row.workspaceId, row.id);

  function storedRow(id: string): SessionRow {
    const row = index.get(id);
    if (!row) throw sessionNotFound(id);
    return row;
  }

  const logOptions = (row: Pick<SessionRow, 'id' | 'workspaceId'>): SessionLogOptions => ({
    dir: directory(row),
    sessionId: row.id,
    sink: deps.sink,
    log,
    version: deps.version,
    onFailure: (error) => {
      log.error('a session became read-only', { sessionId: row.id, err: error });
      live.get(row.id)?.session.agents.cancelTurns();
    },
    projections: deps.features.flatMap((feature) => feature.projection ?? []),
  });

  /** The row as the journal has it, with the cold facts of the stored one. */
  function foldedRow(sessionLog: SessionLog, stored: SessionRow): SessionRow {
    const { outcome, updatedAt, ...facts } = indexRow(sessionLog.state);
    const { id, workspaceId, cwd, archived, archivedAt, custom } = stored;
    return {
      ...facts,
      id,
      workspaceId,
      cwd,
      lastTurnReason: outcome,
      updatedAt: Math.max(updatedAt, stored.updatedAt),
      archived,
      archivedAt,
      custom,
    };
  }

  function activate(sessionLog: SessionLog, row: SessionRow): Entry {
    const { id, workspaceId, cwd } = row;
    const dir = directory(row);
    const session = createLiveSession({
      place: { id, workspaceId, cwd, dir },
      log: sessionLog,
      program: deps.program,
      features: deps.features,
      // Who is not the writer may be behind another process, and the index never is.
      row: (stored = index.get(id) ?? row) => (sessionLog.claimed ? foldedRow(sessionLog, stored) : stored),
      flushEvents: () => deps.flushEvents(id),
      now: deps.now,
      interactionLifetimeMs: deps.interactionLifetimeMs,
      changed: () => void persist(entry),
      report: (what, error) => log.error(what, { sessionId: id, err: error }),
    });
    const entry: Entry = { session, state: createStateFile(dir), usedAt: deps.now(), unloading: false };
    live.set(id, entry);
    return entry;
  }

  /** The row at once, so that lists are right; the file behind it. Throws 50003. */
  async function store(row: SessionRow, state: StateFile): Promise<void> {
    index.upsert(row);
    try {
      await state.write(stateDocument(row));
    } catch (error) {
      throw unwritable(row.id, error);
    }
  }

  /** Stores what the journal has; it stays the last word when that fails. */
  async function persist(entry: Entry, row?: SessionRow): Promise<void> {
    const { session, state } = entry;
    try {
      await store(row ?? session.row(), state);
    } catch (error) {
      log.error('state.json could not be written', { sessionId: session.id, err: error });
    }
  }

  /** Everything is written before anybody hears of the session; between its event and its row nothing is awaited for. */
  async function create(row: SessionRow): Promise<LiveSession> {
    const dir = directory(row);
    try {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      await createStateFile(dir).write(stateDocument(row));
      const { titleKind = 'replaceable' } = row;
      const sessionLog = createSessionLog({
        ...logOptions(row),
        session: sessionView(row, undefined),
        titleKind,
      });
      index.upsert(row);
      return activate(sessionLog, row).session;
    } catch (error) {
      await rm(dir, { recursive: true, force: true }).catch(() => undefined);
      throw unwritable(row.id, error);
    }
  }

  async function patch(id: string, facts: ColdFacts): Promise<void> {
    const entry = live.get(id);
    const present = () => entry?.session.row() ?? storedRow(id);
    const before = present();
    const state = entry?.state ?? createStateFile(directory(before));
    try {
      await store({ ...before, ...facts }, state);
    } catch (error) {
      const { archived, archivedAt, custom, updatedAt } = before;
      index.upsert({ ...present(), archived, archivedAt, custom, updatedAt });
      throw error;
    }
  }

  async function load(id: string): Promise<LiveSession> {
    await index.ready();
    const row = storedRow(id);
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
    const folded = foldedRow(sessionLog, row);
    // Settled just now, or its end never came to the index.
    if (row.open && !folded.open) await persist(entry, folded);
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
    try {
      const last = await entry.session.end(reason);
      const wrote = sessionLog.claimed;
      await sessionLog.close(reason, last);
      if (wrote) await persist(entry, foldedRow(sessionLog, storedRow(id)));
    } finally {
      live.delete(id);
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
    unload: unloadNow,
    unloadIdle,
    inTurn,
    newest() {
      const createdAt = ({ session }: Entry) => session.log.state.index.createdAt;
      return [...live.values()].toSorted((a, b) => createdAt(b) - createdAt(a))[0]?.session;
    },
    async close() {
      closed = true;
      clearInterval(idleCheck);
      await Promise.allSettled(loading.values());
      await Promise.allSettled([...live.keys()].map((id) => inTurn(id, () => unloadNow(id, 'exit'))));
    },
  };
}

/** The reason without the paths that messages of the file system carry. */
const reasonOf = (error: unknown) => errorCode(error) ?? errorMessage(error);

const unwritable = (id: string, error: unknown) =>
  new ServiceError('persistence.failure', `session ${id} cannot be written: ${reasonOf(error)}`, { cause: error });

/** The row as `state.json` keeps it. */
function stateDocument(row: SessionRow): StateDocument {
  return {
    id: row.id,
    version: STATE_VERSION,
    title: row.title,
    titleKind: row.titleKind,
    lastPrompt: row.lastPrompt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    archived: row.archived,
    archivedAt: row.archivedAt,
    cwd: row.cwd,
    forkedFrom: row.forkedFrom,
    agents: { main: { homedir: 'agents/main', type: 'main' } },
    custom: row.custom,
    lastTurnReason: row.lastTurnReason,
  };
}
