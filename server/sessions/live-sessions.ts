/**
 * The sessions that are loaded in this process: opening, keeping the cold view up to date, unloading (core.md §5.2,
 * engine.md §17.3, §17.5). Lifecycle calls on one session run one after the other; concurrent loads share one.
 */
import { join } from 'node:path';
import type { AgentHost } from '../agent/agent.ts';
import { errorMessage, ServiceError, sessionNotFound } from '../errors.ts';
import type { EventSink } from '../events/frame.ts';
import { openSessionLog, type SessionLog, type SessionLogOptions } from '../journal/session-log.ts';
import { createStateFile, STATE_VERSION, type StateDocument, type StateFile } from '../journal/state-file.ts';
import { readContext } from '../journal/projections/context.ts';
import { indexRow } from '../journal/projections/index-row.ts';
import type { Logger } from '../log.ts';
import { createApprovals } from './approvals.ts';
import type { SessionIndex } from './session-index.ts';
import type { SessionRow } from './session-row.ts';
import { createLiveSession, type LiveSession } from './session.ts';
import { createWorkState } from './work-state.ts';

const IDLE_UNLOAD_MS = 30 * 60 * 1000;
const IDLE_CHECK_MS = 60 * 1000;
const MAX_LIVE = 200;

/** Facts that only the cold view holds; they change without the session's lock. */
export interface ColdFacts {
  archived?: boolean;
  archivedAt?: number | undefined;
  custom?: Record<string, unknown>;
  updatedAt?: number;
}

/** Where a session lives and what its agents may look up about it. */
export interface SessionPlace {
  id: string;
  workspaceId: string;
  cwd: string;
  dir: string;
  disabledTools(): readonly string[];
  /** Permission rules remembered for the session. */
  rules(): readonly string[];
}

/** What the program around the sessions gives every agent. */
export interface AgentServices {
  shared: Pick<
    AgentHost,
    'tools' | 'defaultPermission' | 'resolveModel' | 'effort' | 'settings' | 'budget' | 'limits' | 'stream'
  >;
  forSession(place: SessionPlace): Pick<AgentHost, 'environment' | 'readInstructions' | 'renderPrompt' | 'decide'>;
  /** Context limit of the configured default model. */
  defaultLimit(): number | undefined;
}

export interface LiveSessionsDeps {
  /** `<home>/sessions` */
  root: string;
  index: SessionIndex;
  sink: EventSink;
  agents: AgentServices;
  /** Registers the workspace of a session again when it was removed from the registry (files.md §2.2). */
  ensureWorkspace(workspaceId: string, root: string): Promise<void>;
  subscribers(sessionId: string): number;
  version: string;
  log: Logger;
  now(): number;
}

interface Entry {
  session: LiveSession;
  state: StateFile;
  cold: ColdFacts;
  usedAt: number;
}

export interface LiveSessions {
  directory(row: Pick<SessionRow, 'id' | 'workspaceId'>): string;
  /** Live, or undefined when cold. */
  get(id: string): LiveSession | undefined;
  all(): LiveSession[];
  /** Loads a cold session. Throws 40401 and 50001. */
  open(id: string): Promise<LiveSession>;
  /** Takes over a log that was just created. */
  adopt(log: SessionLog, row: SessionRow): Promise<LiveSession>;
  logOptions(row: Pick<SessionRow, 'id' | 'workspaceId'>): SessionLogOptions;
  /** Stores facts of the cold view, of a live or a cold session. */
  patch(id: string, facts: ColdFacts): Promise<SessionRow>;
  unload(id: string, reason: 'exit' | 'archive' | 'idle'): Promise<void>;
  inTurn<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** The most recently created session that is live. */
  newest(): LiveSession | undefined;
  close(): Promise<void>;
}

const ends = {
  exit: { disposed: 'closed', message: 'server stopping' },
  archive: { disposed: 'archived', message: 'session archived' },
  idle: { disposed: 'evicted', message: 'session unloaded' },
} as const;

/** Creates the set; loads nothing. */
export function createLiveSessions(deps: LiveSessionsDeps): LiveSessions {
  const { index, log } = deps;
  const live = new Map<string, Entry>();
  const loading = new Map<string, Promise<LiveSession>>();
  const lifecycles = new Map<string, Promise<unknown>>();
  const idleCheck = setInterval(() => void unloadIdle(), IDLE_CHECK_MS).unref();

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
      live.get(row.id)?.session.main.cancelTurn();
    },
  });

  /** The row as the journal and the cold facts have it now. */
  function presentRow(sessionLog: SessionLog, stored: SessionRow, cold: ColdFacts): SessionRow {
    const { outcome, updatedAt, ...facts } = indexRow(sessionLog.state);
    return {
      ...facts,
      id: stored.id,
      workspaceId: stored.workspaceId,
      cwd: stored.cwd,
      lastTurnReason: outcome,
      updatedAt: Math.max(updatedAt, cold.updatedAt ?? 0),
      archived: cold.archived ?? false,
      archivedAt: cold.archivedAt,
      custom: cold.custom ?? {},
    };
  }

  async function enliven(sessionLog: SessionLog, row: SessionRow): Promise<LiveSession> {
    const { id, workspaceId, cwd } = row;
    const dir = directory(row);
    const state = createStateFile(dir);
    const cold: ColdFacts = {
      archived: row.archived,
      archivedAt: row.archivedAt,
      custom: row.custom,
      updatedAt: row.updatedAt,
    };
    const work = createWorkState(sessionLog.state.status.outcome);
    const approvals = createApprovals({ sessionId: id, work, append: sessionLog.append, now: deps.now });
    const context = () => readContext(sessionLog.state.context, 'main');
    const place: SessionPlace = {
      id,
      workspaceId,
      cwd,
      dir,
      disabledTools: () => context().disabledTools,
      rules: () => context().rules,
    };
    const entry: Entry = { session: undefined!, state, cold, usedAt: deps.now() };
    entry.session = createLiveSession({
      log: sessionLog,
      approvals,
      work,
      row: () => presentRow(sessionLog, row, cold),
      defaultLimit: deps.agents.defaultLimit,
      host: {
        ...deps.agents.shared,
        ...deps.agents.forSession(place),
        id: 'main',
        log: sessionLog,
        work,
        approvals,
        now: deps.now,
        viewChanged: () => void persist(entry),
        report: (what, error) => log.error(what, { sessionId: id, err: error }),
      },
    });
    live.set(id, entry);
    return entry.session;
  }

  /** The row at once, so that lists are right; the file behind it. */
  async function persist(entry: Entry): Promise<SessionRow> {
    const row = entry.session.row();
    index.upsert(row);
    await entry.state.write(stateDocument(row)).catch((error: unknown) => {
      log.error('state.json could not be written', { sessionId: row.id, err: error });
    });
    return row;
  }

  async function load(id: string): Promise<LiveSession> {
    await index.ready();
    const row = storedRow(id);
    await deps.ensureWorkspace(row.workspaceId, row.cwd);
    let sessionLog: SessionLog;
    try {
      sessionLog = await openSessionLog(logOptions(row));
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw new ServiceError(50001, `session ${id} cannot be loaded: ${errorMessage(error)}`, { cause: error });
    }
    const session = await enliven(sessionLog, row);
    const entry = live.get(id);
    // Settling may have changed outcome and openness.
    if (entry && row.open) await persist(entry);
    return session;
  }

  async function open(id: string): Promise<LiveSession> {
    const known = live.get(id);
    if (known) {
      known.usedAt = deps.now();
      await known.session.log.refresh();
      return known.session;
    }
    let shared = loading.get(id);
    if (!shared) {
      shared = inTurn(id, async () => live.get(id)?.session ?? load(id)).finally(() => loading.delete(id));
      loading.set(id, shared);
    }
    return shared;
  }

  async function unloadNow(id: string, reason: keyof typeof ends): Promise<void> {
    const entry = live.get(id);
    if (!entry) return;
    const { disposed, message } = ends[reason];
    const { session } = entry;
    const last = await session.main.close(disposed, message);
    await session.log.close(reason, last);
    live.delete(id);
    await persist(entry);
  }

  function isIdle({ session }: Entry): boolean {
    return session.main.idle() && session.approvals.pending().length === 0 && deps.subscribers(session.id) === 0;
  }

  async function unloadIdle(): Promise<void> {
    const idle = [...live.values()].filter(isIdle).sort((a, b) => a.usedAt - b.usedAt);
    const excess = Math.max(0, live.size - MAX_LIVE);
    const due = idle.filter((entry, place) => place < excess || deps.now() - entry.usedAt > IDLE_UNLOAD_MS);
    for (const { session } of due) {
      await inTurn(session.id, () => unloadNow(session.id, 'idle')).catch((error: unknown) => {
        log.error('an idle session could not be unloaded', { sessionId: session.id, err: error });
      });
    }
  }

  return {
    directory,
    get: (id) => live.get(id)?.session,
    all: () => [...live.values()].map((entry) => entry.session),
    open,
    async adopt(sessionLog, row) {
      const session = await enliven(sessionLog, row);
      const entry = live.get(row.id);
      if (entry) await persist(entry);
      return session;
    },
    logOptions,
    async patch(id, facts) {
      const entry = live.get(id);
      if (entry) {
        Object.assign(entry.cold, facts);
        return persist(entry);
      }
      const row = { ...storedRow(id), ...facts };
      await createStateFile(directory(row)).write(stateDocument(row));
      index.upsert(row);
      return row;
    },
    unload: (id, reason) => unloadNow(id, reason),
    inTurn,
    newest: () =>
      [...live.values()].toSorted((a, b) => b.session.row().createdAt - a.session.row().createdAt)[0]?.session,
    async close() {
      clearInterval(idleCheck);
      await Promise.allSettled(loading.values());
      await Promise.all([...live.keys()].map((id) => inTurn(id, () => unloadNow(id, 'exit'))));
    },
  };
}

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
