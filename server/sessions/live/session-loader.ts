/**
 * Creates loaded sessions: with new journals, and from journals on the disk. `live-sessions.ts` decides which of them
 * stay loaded.
 */
import { join } from 'node:path';
import type { Feature } from '#server/agent/contract/feature.ts';
import { lazy } from '#server/async/lazy.ts';
import type { Semaphore } from '#server/async/semaphore.ts';
import type { Clock } from '#server/clock.ts';
import { errorCode } from '#server/errors/errno.ts';
import { errorMessage, ServiceError, sessionNotFound } from '#server/errors/service-error.ts';
import type { EventSink } from '#server/events/frame.ts';
import { assertNotEmptied } from '#server/journal/emptied.ts';
import { journalFiles } from '#server/journal/journal-files.ts';
import type { SessionLog, SessionLogOptions } from '#server/journal/session-log.ts';
import type { Logger } from '#server/logging/log.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import { foldedHeader, sessionOfHeader, type SessionHeader } from '../index/session-header.ts';
import type { SessionIndex } from '../index/session-index.ts';
import type { StateFiles } from '../index/state-files.ts';
import type { TakeFold, TakenFold } from '../reading/session-folds.ts';
import { createFirstSyncs } from './first-syncs.ts';
import type { LiveSession, LiveSessionDeps } from './session.ts';

export interface SessionLoaderDeps {
  /** `<home>/sessions` */
  root: string;
  index: Pick<SessionIndex, 'ready' | 'get' | 'stored' | 'upsert'>;
  files: Pick<StateFiles, 'writeSoon'>;
  sink: EventSink;
  /** Owner of the sessions' leases. */
  holder: LeaseHolder;
  /** The services of every agent, created at the first call. */
  services(): Promise<Pick<LiveSessionDeps, 'services' | 'featureServices'>>;
  features: readonly Feature[];
  /** Registers the workspace of a session again when it was removed from the registry. */
  ensureWorkspace(workspaceId: string, root: string): Promise<void>;
  slots: Semaphore;
  takeFold: TakeFold;
  transcripts: LiveSessionDeps['transcripts'];
  /** See `SessionContext.modeChanged`. */
  modeChanged(sessionId: string, mode: PermissionMode, by: Caller | undefined): void;
  /** Called with the work directory of a session when it is loaded, before each of its turns and after it. */
  lookAtTrust(root: string): void;
  /** Called with each session that is loaded or created. */
  loaded(session: LiveSession): void;
  /** Called after each change of a loaded session that its row depends on. */
  changed(sessionId: string): void;
  /** Called after a failed write: the session's journal is read-only from now on. */
  becameReadOnly(sessionId: string): void;
  /** Publishes the session's events that wait to be coalesced. */
  flushEvents(sessionId: string): void;
  version: string;
  log: Logger;
  clock: Clock;
}

/** The code of sessions and their agents, imported with the first session. */
export interface SessionEngine {
  /** Creates the session of an open journal; appends nothing. */
  activate(log: SessionLog, row: SessionHeader, known?: TakenFold['transcripts']): LiveSession;
}

export interface SessionLoader {
  directory(row: Pick<SessionHeader, 'id' | 'workspaceId'>): string;
  /** The options with which the session's journal is opened. */
  logOptions(row: Pick<SessionHeader, 'id' | 'workspaceId'>): SessionLogOptions;
  engine(): Promise<SessionEngine>;
  /** Opens the journal of a session. Throws `session.not_found`, and `internal.error` for a damaged journal. */
  load(id: string): Promise<LiveSession>;
  /** Writes a new session and publishes its event. Throws `persistence.failure`, and then its folder is removed. */
  create(row: SessionHeader): Promise<LiveSession>;
  /** Syncs the journals of new sessions. */
  close(): Promise<void>;
}

/** Creates the loader; loads nothing. */
export function createSessionLoader(deps: SessionLoaderDeps): SessionLoader {
  const { root, index, files, sink, holder, features, slots, transcripts, version, log, clock } = deps;
  const projections = features.flatMap((feature) => feature.projection ?? []);
  const firstSyncs = createFirstSyncs({ files: journalFiles, clock, log });

  const directory: SessionLoader['directory'] = ({ id, workspaceId }) => join(root, workspaceId, id);

  const logOptions: SessionLoader['logOptions'] = (row) => ({
    dir: directory(row),
    sessionId: row.id,
    sink,
    holder,
    log,
    clock,
    version,
    onFailure: (error) => {
      log.error('a session became read-only', { sessionId: row.id, err: error });
      deps.becameReadOnly(row.id);
    },
    projections,
  });

  const engine = lazy(async () => {
    const [{ createLiveSession }, { createSessionLog, openSessionLog }, { services, featureServices }] =
      await Promise.all([import('./session.ts'), import('#server/journal/session-log.ts'), deps.services()]);
    function activate(sessionLog: SessionLog, row: SessionHeader, known?: TakenFold['transcripts']): LiveSession {
      const { id, workspaceId, cwd } = row;
      deps.lookAtTrust(cwd);
      return createLiveSession({
        place: { id, workspaceId, cwd, dir: directory(row) },
        log: sessionLog,
        services,
        featureServices,
        features,
        loaded: row,
        transcripts: { ...transcripts, known },
        // Without a claim another process may be ahead of the log, but never of the index.
        row: (stored = index.get(id) ?? row) => (sessionLog.claimed ? headerOf(sessionLog, stored) : stored),
        flushEvents: () => deps.flushEvents(id),
        clock,
        changed() {
          deps.changed(id);
          deps.lookAtTrust(cwd);
        },
        modeChanged: (mode, by) => deps.modeChanged(id, mode, by),
        report: (what, error) => log.error(what, { sessionId: id, err: error }),
      });
    }
    return { createSessionLog, openSessionLog, activate };
  });

  /** The journal is written before the event is published; there is no await between the event and the row. */
  async function create(row: SessionHeader): Promise<LiveSession> {
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

  async function loadNow(id: string, known?: TakenFold): Promise<LiveSession> {
    const row = index.get(id);
    if (!row) throw sessionNotFound(id);
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
    session.open();
    const folded = headerOf(sessionLog, row);
    const indexed = index.stored(id)?.journalLength ?? 0;
    // The load settled it, or its server exited before it wrote the row.
    if ((row.open && !folded.open) || indexed < sessionLog.length) {
      index.upsert(folded, sessionLog.length);
      if (sessionLog.claimed) files.writeSoon(id, sessionLog.dir);
    }
    deps.loaded(session);
    return session;
  }

  return {
    directory,
    logOptions,
    engine,
    async load(id) {
      await index.ready();
      const known = await deps.takeFold(id);
      return slots.run(() => loadNow(id, known));
    },
    create,
    close: firstSyncs.close,
  };
}

/** The header that a log results in; facts that no journal has are those of the row. */
export function headerOf({ state, unwritten }: SessionLog, row: SessionHeader): SessionHeader {
  const header = foldedHeader(state, row, row);
  // Records that are in no line of the file would be missing in a copy.
  return unwritten.length > 0 ? { ...header, settled: false } : header;
}

/** The reason without the paths that messages of the file system carry. */
const reasonOf = (error: unknown): string => errorCode(error) ?? errorMessage(error);

/** The `persistence.failure` that clients receive for a session. */
export const unwritable = (id: string, error: unknown): ServiceError =>
  new ServiceError('persistence.failure', `session ${id} cannot be written: ${reasonOf(error)}`, { cause: error });
