/**
 * The sessions that are loaded in this process: their journals are opened, their rows and state files kept up to date,
 * and what they hold is released when they go. Which ones are loaded is the cache's to decide.
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
import type { ColdFolds } from './cold-folds.ts';
import { createFirstSyncs } from './first-syncs.ts';
import type { TakeFold, TakenFold } from './taken-folds.ts';
import { createLiveCache, type LiveCache } from './live-cache.ts';
import { loadOnce } from '#server/async/lazy.ts';
import { createSlots, type Slots } from '#server/async/semaphore.ts';
import type { SessionIndex } from './session-index.ts';
import type { WantedCopy } from './session-copies.ts';
import { foldedHeader, sessionOfHeader, type ColdFacts, type SessionHeader } from './session-header.ts';
import type { LiveSession, LiveSessionDeps } from './session.ts';
import { createStateFiles } from './state-files.ts';
import { reasonOf, unwritable } from './unwritable.ts';

const IDLE_CHECK_MS = 60 * 1000;
/** How long transcripts stay in memory that no client follows or reads. */
const UNREAD_TRANSCRIPTS_MS = 3 * 60 * 1000;

/** What holds sessions in memory beside their own turns and those who use them: subscribers, terminals, watches. */
export interface SessionResource {
  holds(sessionId: string): boolean;
  /**
   * The session is unloaded; awaited before its journal closes. Not called where that only follows a failed write: the
   * next use loads the session again. Absent for a resource that outlives any unloading.
   */
  release?(sessionId: string, reason: UnloadReason): Promise<void>;
}

export interface LiveSessionsDeps {
  /** `<home>/sessions` */
  root: string;
  index: SessionIndex;
  sink: EventSink;
  /** In whose name sessions are locked. */
  holder: LeaseHolder;
  /** What every agent gets; made when it is first asked for. */
  services(): Promise<Pick<LiveSessionDeps, 'services' | 'featureServices'>>;
  features: readonly Feature[];
  /** Registers the workspace of a session again when it was removed from the registry. */
  ensureWorkspace(workspaceId: string, root: string): Promise<void>;
  resources: readonly SessionResource[];
  slots: Slots;
  /** Of sessions that are not loaded. */
  folds: Pick<ColdFolds, 'read' | 'keeps'>;
  takeFold: TakeFold;
  models: Pick<ModelChecks, 'assertSubagentPool'>;
  transcripts: LiveSessionDeps['transcripts'];
  /** See `SessionContext.modeChanged`. */
  modeChanged(sessionId: string, mode: PermissionMode, by: Caller | undefined): void;
  /** Called with the work directory of a session when it is loaded, before each of its turns and after it. */
  lookAtTrust(root: string): void;
  /** Told of each session that is loaded or made. */
  loaded(session: LiveSession): void;
  /** Hands over the events of a session that wait to be joined. */
  flushEvents(sessionId: string): void;
  version: string;
  log: Logger;
  clock: Clock;
  /** Sessions in memory above which opening one unloads the longest unused that nothing holds; 200 unless given. */
  maxLive?: number;
  /** The same for the bytes of their journals; 256 MiB by default. */
  maxLiveBytes?: number;
}

export interface LiveSessions extends Omit<LiveCache<LiveSession>, 'add' | 'use'> {
  directory(row: Pick<SessionHeader, 'id' | 'workspaceId'>): string;
  /** Loads the code that the first session and the first copy load otherwise. */
  preload(): Promise<void>;
  /**
   * Throws `validation.failed` while the models configured for subagents cannot be used, and the session is not loaded
   * yet.
   */
  use: LiveCache<LiveSession>['use'];
  /** As `use`, for those who only want it loaded, whatever the configuration says: nothing keeps it so. */
  open(id: string): Promise<LiveSession>;
  /** As `use`, of a session that is loaded; undefined of one that is not. */
  ifLoaded<T>(id: string, work: (session: LiveSession) => T | Promise<T>): Promise<T | undefined>;
  /**
   * Writes a new session, tells of it and keeps it live. Throws `persistence.failure`, and then nothing is left of it.
   */
  create(row: SessionHeader): Promise<LiveSession>;
  /**
   * Makes a session that begins as a copy of another; to be called in the other's turn. It is loaded where what it
   * folds to is known or has to be. Throws `session.busy` while a turn runs there, `internal.error` of a damaged
   * journal that it folds, `persistence.failure`.
   */
  fork(source: SessionHeader, wanted: WantedCopy): Promise<Session>;
  /**
   * Stores facts of the cold view, of a live or a cold session. Throws `persistence.failure`, and then nothing has
   * changed.
   */
  patch(id: string, change: (header: SessionHeader) => Partial<ColdChange>): Promise<void>;
  /** Stores what the journal of a live session tells; its file follows within seconds. */
  persist(id: string): void;
  /** All that a live session has to write is on the disk; a cold one has nothing. Throws `persistence.failure`. */
  flush(id: string): Promise<void>;
}

/** What changes without the session's lock. */
export type ColdChange = ColdFacts & Pick<SessionHeader, 'updatedAt'>;

/** Creates the set; loads nothing. */
export function createLiveSessions(deps: LiveSessionsDeps): LiveSessions {
  const { index, log, clock } = deps;
  const projections = deps.features.flatMap((feature) => feature.projection ?? []);
  const files = createStateFiles({ index, log, clock });
  const firstSyncs = createFirstSyncs({ files: journalFiles, clock, log });
  /** Each writes to the disk while everybody waits: of many that come at once, some at a time. */
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
  /** Sessions that are not loaded after a failed write, while resources of theirs may be open. */
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

  /** What a log tells of its session; the row stays as it is where that cannot know. */
  function headerOf({ state, unwritten }: SessionLog, row: SessionHeader): SessionHeader {
    const header = foldedHeader(state, row, row);
    // What stands in no line of the file is no part of a copy.
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

  /**
   * Unloads a session that became read-only, after its turns have ended: its next use loads it, and may write again.
   */
  async function unloadFailed(id: string): Promise<void> {
    try {
      await live.inTurn(id, async () => {
        if (live.get(id)?.log.readOnly) await live.unload(id, 'idle');
      });
    } catch (error) {
      log.error('a session that became read-only could not be unloaded', { sessionId: id, err: error });
    }
  }

  /**
   * What makes sessions of their journals. Nothing before the first one needs the code of sessions and their agents.
   */
  const engine = loadOnce(async () => {
    const [{ createLiveSession }, { createSessionLog, openSessionLog }, { createSessionCopies }, loaded] =
      await Promise.all([
        import('./session.ts'),
        import('#server/journal/session-log.ts'),
        import('./session-copies.ts'),
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
        // Who is not the writer may be behind another process, and the index never is.
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
    // Who is not the writer has nothing to tell.
    if (!session?.log.claimed) return;
    // Without the look into the index: it keeps the facts that no journal has, unless the row went with the file.
    index.upsert(session.row(session.loaded), session.log.length);
    files.writeSoon(id, session.log.dir);
  }

  /**
   * Everything is written before anybody hears of the session; between its event and its row nothing is awaited for.
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
    // Settled just now, or the end of its server came before the row.
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

  /** One that fails must not keep the journal open. */
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
