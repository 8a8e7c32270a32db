/**
 * Makes loaded sessions: of new journals, and of those on the disk. It keeps none of them; which sessions are loaded,
 * and for how long, is up to `live-sessions.ts`.
 */
import { join } from 'node:path';
import type { Feature } from '#server/agent/contract/feature.ts';
import { loadOnce } from '#server/async/lazy.ts';
import type { Slots } from '#server/async/semaphore.ts';
import type { Clock } from '#server/clock.ts';
import { errorCode } from '#server/errors/errno.ts';
import { errorMessage, ServiceError, sessionNotFound } from '#server/errors/service-error.ts';
import type { EventSink } from '#server/events/frame.ts';
import { assertNotEmptied } from '#server/journal/emptied.ts';
import { journalFiles } from '#server/journal/journal-files.ts';
import type { SessionLog, SessionLogOptions } from '#server/journal/session-log.ts';
import type { Logger } from '#server/logging/log.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import type { Caller } from '#schema/caller.ts';
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
  /** In whose name sessions are locked. */
  holder: LeaseHolder;
  /** What every agent gets; made when it is first asked for. */
  services(): Promise<Pick<LiveSessionDeps, 'services' | 'featureServices'>>;
  features: readonly Feature[];
  /** Registers the workspace of a session again when it was removed from the registry. */
  ensureWorkspace(workspaceId: string, root: string): Promise<void>;
  slots: Slots;
  takeFold: TakeFold;
  transcripts: LiveSessionDeps['transcripts'];
  /** See `SessionContext.modeChanged`. */
  modeChanged(sessionId: string, mode: PermissionMode, by: Caller | undefined): void;
  /** Called with the work directory of a session when it is loaded, before each of its turns and after it. */
  lookAtTrust(root: string): void;
  /** Told of each session that is loaded or made. */
  loaded(session: LiveSession): void;
  /** Called after each change of a loaded session that its row depends on. */
  changed(sessionId: string): void;
  /** Called when a write of a session failed: its journal accepts no more. */
  becameReadOnly(sessionId: string): void;
  /** Hands over the events of a session that wait to be joined. */
  flushEvents(sessionId: string): void;
  version: string;
  log: Logger;
  clock: Clock;
}

/** The code of sessions and their agents, which is loaded with the first session. */
export interface SessionEngine {
  /** Makes a session of its open journal; appends nothing. */
  activate(log: SessionLog, row: SessionHeader, known?: TakenFold['transcripts']): LiveSession;
}

export interface SessionLoader {
  directory(row: Pick<SessionHeader, 'id' | 'workspaceId'>): string;
  /** The options with which the session's journal is opened. */
  logOptions(row: Pick<SessionHeader, 'id' | 'workspaceId'>): SessionLogOptions;
  engine(): Promise<SessionEngine>;
  /** Opens the journal of a session. Throws `session.not_found`, and `internal.error` of a damaged journal. */
  load(id: string): Promise<LiveSession>;
  /** Writes a new session and tells of it. Throws `persistence.failure`, and then nothing is left of it. */
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

  const engine = loadOnce(async () => {
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
        // Who is not the writer may be behind another process, and the index never is.
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

  /**
   * Everything is written before anybody hears of the session; between its event and its row nothing is awaited for.
   */
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
    // Settled just now, or the end of its server came before the row.
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

/** What a log tells of its session; the row stays as it is where that cannot know. */
export function headerOf({ state, unwritten }: SessionLog, row: SessionHeader): SessionHeader {
  const header = foldedHeader(state, row, row);
  // What stands in no line of the file is no part of a copy.
  return unwritten.length > 0 ? { ...header, settled: false } : header;
}

/** The reason without the paths that messages of the file system carry. */
const reasonOf = (error: unknown): string => errorCode(error) ?? errorMessage(error);

/** `persistence.failure` of a session, as its clients are told. */
export const unwritable = (id: string, error: unknown): ServiceError =>
  new ServiceError('persistence.failure', `session ${id} cannot be written: ${reasonOf(error)}`, { cause: error });
