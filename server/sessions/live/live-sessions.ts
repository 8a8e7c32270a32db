/**
 * The sessions that are loaded in this process: keeps their rows and state files up to date, and releases their
 * resources when they are unloaded. The cache decides which ones are loaded.
 */
import type { UnloadReason } from '#server/agent/contract/feature.ts';
import { createSemaphore } from '#server/async/semaphore.ts';
import { createTimeSlice } from '#server/async/yield.ts';
import type { Clock } from '#server/clock.ts';
import { sessionNotFound } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { ModelChecks } from '#server/models/model-checks.ts';
import type { ColdFields, SessionHeader } from '../index/session-header.ts';
import type { SessionIndex } from '../index/session-index.ts';
import type { StateFiles } from '../index/state-files.ts';
import { createLiveCache, type LiveCache } from './live-cache.ts';
import { headerOf, unwritable, type SessionLoader } from './session-loader.ts';
import type { LiveSession } from './session.ts';

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
  loader: SessionLoader;
  index: SessionIndex;
  /** Closed with the set. */
  files: StateFiles;
  resources: readonly SessionResource[];
  models: Pick<ModelChecks, 'assertSubagentPool'>;
  log: Logger;
  clock: Clock;
  /** Number of loaded sessions above which opening one evicts the least recently used idle session; default: 200. */
  maxLive?: number | undefined;
  /** The same for the bytes of their journals; 256 MiB by default. */
  maxLiveBytes?: number | undefined;
}

export interface LiveSessions extends LiveCache<LiveSession> {
  directory(row: Pick<SessionHeader, 'id' | 'workspaceId'>): string;
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
  /** Cancels the turns of a session that became read-only, then unloads it: its next use loads it, and may write again. */
  abandon(id: string): void;
}

/** Header members that change without the session's lock. */
export type ColdChange = ColdFields & Pick<SessionHeader, 'updatedAt'>;

/** Creates the service; loads no session. */
export function createLiveSessions(deps: LiveSessionsDeps): LiveSessions {
  const { loader, index, files, log, clock } = deps;
  /** A creation writes synchronously and blocks the event loop, so concurrent creations run serially, with pauses. */
  const creations = createSemaphore(1);
  const slice = createTimeSlice();
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

  function storedHeader(id: string): SessionHeader {
    const row = index.get(id);
    if (!row) throw sessionNotFound(id);
    return row;
  }

  async function unloadReadOnly(id: string): Promise<void> {
    try {
      await live.inTurn(id, async () => {
        if (live.get(id)?.log.readOnly) await live.unload(id, 'idle');
      });
    } catch (error) {
      log.error('a session that became read-only could not be unloaded', { sessionId: id, err: error });
    }
  }

  function persist(id: string): void {
    const session = live.get(id);
    // Without the lock, this process has nothing newer than the index.
    if (!session?.log.claimed) return;
    // Does not read the index row first: the upsert preserves the members that no journal has, unless the index file
    // was removed and the row is missing.
    index.upsert(session.row(session.loaded), session.log.length);
    files.writeSoon(id, session.log.dir);
  }

  async function patch(id: string, change: (header: SessionHeader) => Partial<ColdChange>): Promise<void> {
    const session = live.get(id);
    // The row is missing if the index file was removed.
    if (session && !index.get(id)) index.upsert(session.row(), session.log.length);
    const before = storedHeader(id);
    try {
      index.patch(id, change);
      await files.write(id, loader.directory(before));
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
    const session = await loader.load(id);
    unattended.delete(id);
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
    directory: loader.directory,
    get: live.get,
    all: live.all,
    loaded: live.loaded,
    use,
    ifLoaded: async (id, work) => (live.get(id) ? use(id, work) : undefined),
    open: (id) => refreshed(id, (session) => session),
    add: live.add,
    create: (row) =>
      creations.run(async () => {
        if (slice.due()) await slice.rest();
        return live.add(row.id, () => loader.create(row));
      }),
    patch,
    persist,
    async flush(id) {
      await live.get(id)?.log.sync();
      await files.flush(id);
    },
    abandon(id) {
      live.get(id)?.cancelTurns();
      void unloadReadOnly(id);
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
      await loader.close();
      await files.close();
    },
  };
}
