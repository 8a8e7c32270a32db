/**
 * The sessions that are loaded in this process. Opens their journals, keeps their index rows and state files up to
 * date, and releases their resources when they are unloaded. The cache (`live-cache.ts`) decides which sessions are
 * loaded.
 */
import { join } from 'node:path';
import type { Feature, UnloadReason } from '#server/agent/contract/feature.ts';
import { createPace } from '#server/async/yield.ts';
import type { Clock } from '#server/clock.ts';
import { ServiceError, sessionNotFound } from '#server/errors/service-error.ts';
import type { EventSink } from '#server/events/frame.ts';
import { assertNotEmptied } from '#server/journal/emptied.ts';
import { journalFiles } from '#server/journal/journal-files.ts';
import type { SessionLog, SessionLogOptions } from '#server/journal/session-log.ts';
import type { Caller } from '#schema/caller.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { Session } from '#schema/session.ts';
import type { Logger } from '#server/logging/log.ts';
import type { ModelChecks } from '#server/models/model-checks.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import type { ColdFolds } from '#server/sessions/reading/cold-folds.ts';
import { createFirstSyncs } from './first-syncs.ts';
import type { TakeFold, TakenFold } from '#server/sessions/reading/taken-folds.ts';
import { createLiveCache, type LiveCache } from './live-cache.ts';
import { loadOnce } from '#server/async/lazy.ts';
import { createSlots, type Slots } from '#server/async/semaphore.ts';
import type { SessionIndex } from '#server/sessions/index/session-index.ts';
import type { WantedCopy } from '#server/sessions/copies/session-copies.ts';
import {
  foldedHeader,
  sessionOfHeader,
  type ColdFields,
  type SessionHeader,
} from '#server/sessions/index/session-header.ts';
import type { LiveSession, LiveSessionDeps } from './session.ts';
import { createStateFiles } from '#server/sessions/index/state-files.ts';
import { reasonOf, unwritable } from '#server/sessions/unwritable.ts';

const IDLE_CHECK_MS = 60 * 1000;
/** How long a transcript that no client follows or reads stays in memory. */
const UNREAD_TRANSCRIPTS_MS = 3 * 60 * 1000;

/**
 * A resource that keeps sessions loaded in addition to their turns and running requests: subscribers, terminals,
 * watches.
 */
export interface SessionResource {
  holds(sessionId: string): boolean;
  /**
   * Called when the session is unloaded, and awaited before its journal closes. Not called for an unload after a failed
   * write, because the next use loads the session again. Undefined for a resource that outlives an unload.
   */
  release?(sessionId: string, reason: UnloadReason): Promise<void>;
}

export interface LiveSessionsDeps {
  /** `<home>/sessions` */
  root: string;
  index: SessionIndex;
  sink: EventSink;
  /** The lease holder of this process, which acquires the sessions' locks. */
  holder: LeaseHolder;
  /** Returns the services of all agents; created at the first call. */
  services(): Promise<Pick<LiveSessionDeps, 'services' | 'featureServices'>>;
  features: readonly Feature[];
  /** Registers the workspace of a session again if it was removed from the registry. */
  ensureWorkspace(workspaceId: string, root: string): Promise<void>;
  resources: readonly SessionResource[];
  slots: Slots;
  /** The folds of sessions that are not loaded. */
  folds: Pick<ColdFolds, 'read' | 'keeps'>;
  takeFold: TakeFold;
  models: Pick<ModelChecks, 'assertSubagentPool'>;
  transcripts: LiveSessionDeps['transcripts'];
  /** See `SessionContext.modeChanged`. */
  modeChanged(sessionId: string, mode: PermissionMode, by: Caller | undefined): void;
  /** Called with the work directory of a session when it is loaded, before each of its turns and after it. */
  lookAtTrust(root: string): void;
  /** Called with each session that was loaded or created. */
  loaded(session: LiveSession): void;
  /** Publishes the buffered stream events of a session, which wait to be coalesced. */
  flushEvents(sessionId: string): void;
  version: string;
  log: Logger;
  clock: Clock;
  /** Number of loaded sessions above which opening one evicts the least recently used idle session; default: 200. */
  maxLive?: number;
  /** The same for the bytes of their journals; 256 MiB by default. */
  maxLiveBytes?: number;
}

export interface LiveSessions extends Omit<LiveCache<LiveSession>, 'add' | 'use'> {
  directory(row: Pick<SessionHeader, 'id' | 'workspaceId'>): string;
  /** Imports the modules that the first session or the first copy would import otherwise. */
  preload(): Promise<void>;
  /** Throws `validation.failed` if the session is not loaded and the models configured for subagents are unusable. */
  use: LiveCache<LiveSession>['use'];
  /** Loads the session like `use`, regardless of the configured subagent models, and does not keep it loaded. */
  open(id: string): Promise<LiveSession>;
  /** Like `use` if the session is loaded; otherwise returns undefined. */
  ifLoaded<T>(id: string, work: (session: LiveSession) => T | Promise<T>): Promise<T | undefined>;
  /**
   * Writes a new session, publishes it and adds it to the cache. Throws `persistence.failure`; no files remain then.
   */
  create(row: SessionHeader): Promise<LiveSession>;
  /**
   * Creates a session as a copy of another; must be called within the source's `inTurn`. The copy is loaded if the
   * source is loaded, or its fold is cached or needed. Throws `session.busy` while a turn of the source runs,
   * `internal.error` if its journal is damaged and must be folded, `persistence.failure`.
   */
  fork(source: SessionHeader, wanted: WantedCopy): Promise<Session>;
  /**
   * Stores header members that no journal has, of a loaded or a cold session. Throws `persistence.failure`; nothing has
   * changed then.
   */
  patch(id: string, change: (header: SessionHeader) => Partial<ColdChange>): Promise<void>;
  /** Updates the index row of a loaded session from its journal; its state file follows within seconds. */
  persist(id: string): void;
  /**
   * Resolves when all pending writes of the session are on the disk; immediately if it is not loaded. Throws
   * `persistence.failure`.
   */
  flush(id: string): Promise<void>;
}

/** Header members that change without the session's lock. */
export type ColdChange = ColdFields & Pick<SessionHeader, 'updatedAt'>;

/** Creates the service; loads no session. */
export function createLiveSessions(deps: LiveSessionsDeps): LiveSessions {
  const { index, log, clock } = deps;
  const projections = deps.features.flatMap((feature) => feature.projection ?? []);
  const files = createStateFiles({ index, log, clock });
  const firstSyncs = createFirstSyncs({ files: journalFiles, clock, log });
  /** A creation writes synchronously and blocks the event loop, so concurrent creations run serially, with pauses. */
  const creations = createSlots(1);
  const pace = createPace();
  const live = createLiveCache<LiveSession>({
    load,
    unload,
    holds: (id, session) => session.holds() || deps.resources.some((resource) => resource.holds(id)),
    bytes: (session) => session.log.length,
    keeps: (session) => session.keeps(),
    dropped: (session) => session.dropped(),
    log,
    clock,
    maxLive: deps.maxLive,
    maxLiveBytes: deps.maxLiveBytes,
  });
  /** Sessions that were unloaded after a failed write and whose resources may still be open. */
  const unattended = new Set<string>();
  let closed = false;
  let callOffIdleCheck = () => {};

  function checkIdleLater(): void {
    if (closed) return;
    callOffIdleCheck = clock.setTimeout(() => void releaseIdle().then(checkIdleLater), IDLE_CHECK_MS);
  }
  async function releaseIdle(): Promise<void> {
    await live.unloadIdle();
    for (const session of live.all()) session.releaseTranscripts(clock.now() - UNREAD_TRANSCRIPTS_MS);
  }
  checkIdleLater();

  const directory = (row: Pick<SessionHeader, 'id' | 'workspaceId'>) => join(deps.root, row.workspaceId, row.id);

  function storedHeader(id: string): SessionHeader {
    const row = index.get(id);
    if (!row) throw sessionNotFound(id);
    return row;
  }

  /** Returns the header as folded from the log; members that the log cannot know are those of `row`. */
  function headerOf({ state, unwritten }: SessionLog, row: SessionHeader): SessionHeader {
    const header = foldedHeader(state, row, row);
    // Records that are not in the file would be missing from a copy by row.
    return unwritten.length > 0 ? { ...header, settled: false } : header;
  }

  const logOptions = (row: Pick<SessionHeader, 'id' | 'workspaceId'>): SessionLogOptions => ({
    dir: directory(row),
    sessionId: row.id,
    sink: deps.sink,
    holder: deps.holder,
    log,
    clock,
    version: deps.version,
    onFailure: (error) => {
      log.error('a session became read-only', { sessionId: row.id, err: error });
      live.get(row.id)?.cancelTurns();
      void unloadFailed(row.id);
    },
    projections,
  });

  /** Unloads a session that became read-only, after its turns have ended; its next use loads it and may write again. */
  async function unloadFailed(id: string): Promise<void> {
    try {
      await live.inTurn(id, async () => {
        if (live.get(id)?.log.readOnly) await live.unload(id, 'idle');
      });
    } catch (error) {
      log.error('a session that became read-only could not be unloaded', { sessionId: id, err: error });
    }
  }

  /** Loads the code of sessions and their agents, which is not needed before the first session. */
  const engine = loadOnce(async () => {
    const [{ createLiveSession }, { createSessionLog, openSessionLog }, { createSessionCopies }, loaded] =
      await Promise.all([
        import('./session.ts'),
        import('#server/journal/session-log.ts'),
        import('#server/sessions/copies/session-copies.ts'),
        deps.services(),
      ]);
    const { services, featureServices } = loaded;
    function activate(sessionLog: SessionLog, row: SessionHeader, known?: TakenFold['transcripts']): LiveSession {
      const { id, workspaceId, cwd } = row;
      const dir = directory(row);
      deps.lookAtTrust(cwd);
      return createLiveSession({
        place: { id, workspaceId, cwd, dir },
        log: sessionLog,
        services,
        featureServices,
        features: deps.features,
        loaded: row,
        transcripts: { ...deps.transcripts, known },
        // Without the lock this log may lack another process's records; the index row is always current.
        row: (stored = index.get(id) ?? row) => (sessionLog.claimed ? headerOf(sessionLog, stored) : stored),
        flushEvents: () => deps.flushEvents(id),
        clock,
        changed() {
          persist(id);
          deps.lookAtTrust(cwd);
        },
        modeChanged: (mode, by) => deps.modeChanged(id, mode, by),
        report: (what, error) => log.error(what, { sessionId: id, err: error }),
      });
    }
    return { createSessionLog, openSessionLog, createSessionCopies, activate };
  });

  function persist(id: string): void {
    const session = live.get(id);
    // Without the lock, this process has nothing newer than the index.
    if (!session?.log.claimed) return;
    // Does not read the index row first: the upsert preserves the members that no journal has, unless the index file
    // was removed and the row is missing.
    index.upsert(session.row(session.loaded), session.log.length);
    files.writeSoon(id, session.log.dir);
  }

  /**
   * Creates a session: the journal is written before the event is published, and nothing is awaited between the event
   * and the row.
   */
  async function createNow(row: SessionHeader): Promise<LiveSession> {
    const dir = directory(row);
    const { createSessionLog, activate } = await engine();
    try {
      const { titleKind = 'replaceable' } = row;
      const sessionLog = createSessionLog({
        ...logOptions(row),
        session: sessionOfHeader(row, undefined),
        titleKind,
      });
      index.upsert(row, sessionLog.length);
      firstSyncs.add(dir);
      const session = activate(sessionLog, row);
      deps.loaded(session);
      return session;
    } catch (error) {
      await journalFiles.remove(dir).catch(() => undefined);
      throw unwritable(row.id, error);
    }
  }

  async function copy(source: SessionHeader, wanted: WantedCopy): Promise<Session> {
    const { createSessionCopies } = await engine();
    const make = createSessionCopies({
      ...deps,
      directory,
      logOptions,
      headerOf,
      engine,
      loaded: live.get,
      add: live.add,
    });
    return make(source, wanted);
  }

  async function patch(id: string, change: (header: SessionHeader) => Partial<ColdChange>): Promise<void> {
    const session = live.get(id);
    // The row is missing if the index file was removed.
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
    const known = await deps.takeFold(id);
    return deps.slots.run(() => loadNow(id, known));
  }

  async function loadNow(id: string, known?: TakenFold): Promise<LiveSession> {
    const row = storedHeader(id);
    await deps.ensureWorkspace(row.workspaceId, row.cwd);
    const { openSessionLog, activate } = await engine();
    let sessionLog: SessionLog;
    try {
      await assertNotEmptied(directory(row), index.stored(id)?.journalLength ?? 0);
      sessionLog = await openSessionLog(logOptions(row), known?.fold);
    } catch (error) {
      log.error('a session cannot be loaded', { sessionId: id, err: error });
      if (error instanceof ServiceError) throw error;
      throw new ServiceError('internal.error', `session ${id} cannot be loaded: ${reasonOf(error)}`, { cause: error });
    }
    const session = activate(sessionLog, row, known?.transcripts);
    unattended.delete(id);
    session.open();
    const folded = headerOf(sessionLog, row);
    const indexed = index.stored(id)?.journalLength ?? 0;
    // Either this load settled the session, or its server exited before it wrote the row.
    if ((row.open && !folded.open) || indexed < sessionLog.length) {
      index.upsert(folded, sessionLog.length);
      if (sessionLog.claimed) files.writeSoon(id, sessionLog.dir);
    }
    deps.loaded(session);
    return session;
  }

  async function unload(id: string, session: LiveSession, reason: UnloadReason): Promise<void> {
    const { log: sessionLog } = session;
    let wrote = false;
    try {
      const last = await session.end(reason);
      if (reason === 'idle' && sessionLog.readOnly) unattended.add(id);
      else await releaseResources(id, reason);
      wrote = sessionLog.claimed;
      await sessionLog.close(reason, last);
    } finally {
      if (wrote) {
        const stored = index.get(id) ?? session.row();
        index.upsert(headerOf(sessionLog, stored), sessionLog.length);
        files.writeSoon(id, sessionLog.dir);
        await files.flush(id);
      }
    }
  }

  /** A resource that fails to release must not prevent the journal from being closed. */
  async function releaseResources(id: string, reason: UnloadReason): Promise<void> {
    const releases = await Promise.allSettled(deps.resources.map(async (resource) => resource.release?.(id, reason)));
    for (const release of releases) {
      if (release.status === 'rejected') {
        log.error('what held a session could not be released', { sessionId: id, err: release.reason });
      }
    }
  }

  const refreshed: LiveSessions['use'] = (id, work) =>
    live.use(id, async (session) => {
      await session.log.refresh();
      return work(session);
    });

  const use: LiveSessions['use'] = async (id, work) => {
    if (!live.get(id)) {
      await index.ready();
      storedHeader(id);
      await deps.models.assertSubagentPool();
    }
    return refreshed(id, work);
  };

  return {
    directory,
    async preload() {
      await engine();
    },
    get: live.get,
    all: live.all,
    loaded: live.loaded,
    use,
    ifLoaded: async (id, work) => (live.get(id) ? use(id, work) : undefined),
    open: (id) => refreshed(id, (session) => session),
    create: (row) =>
      creations.run(async () => {
        if (pace.due()) await pace.rest();
        return live.add(row.id, () => createNow(row));
      }),
    async fork(source, wanted) {
      await deps.ensureWorkspace(source.workspaceId, source.cwd);
      return copy(source, wanted);
    },
    patch,
    persist,
    async flush(id) {
      await live.get(id)?.log.sync();
      await files.flush(id);
    },
    async unload(id, reason) {
      await live.unload(id, reason);
      if (unattended.delete(id)) await releaseResources(id, reason);
    },
    unloadIdle: live.unloadIdle,
    inTurn: live.inTurn,
    async close() {
      closed = true;
      callOffIdleCheck();
      await live.close();
      for (const id of unattended) await releaseResources(id, 'exit');
      unattended.clear();
      await firstSyncs.close();
      await files.close();
    },
  };
}
