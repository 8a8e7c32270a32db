/**
 * Sessions that begin as copies of others. Where the index tells all that a copy's own line needs, its journal is made of
 * the other's lines alone; else of their fold, and then it is loaded.
 */
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { EventSink } from '#server/events/frame.ts';
import type { ColdFold } from '#server/journal/cold-fold.ts';
import { copyState } from '#server/journal/copy-state.ts';
import type { LogState } from '#server/journal/fold.ts';
import { forkSessionLog, forkSettledJournal } from '#server/journal/fork-log.ts';
import { journalFiles } from '#server/journal/journal-files.ts';
import { lockOwner } from '#server/journal/lock.ts';
import type { SessionLog, SessionLogOptions } from '#server/journal/session-log.ts';
import type { Slots } from '#server/async/semaphore.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import type { Session } from '#schema/session.ts';
import type { ColdFolds } from './cold-folds.ts';
import { copySessionFolder } from './copy-folder.ts';
import {
  copiedHeader,
  newSessionId,
  sessionOfHeader,
  type SessionHeader,
  type StoredHeader,
} from './session-header.ts';
import type { SessionIndex } from './session-index.ts';
import type { LiveSession } from './session.ts';
import { unfinishedPath } from './unfinished-folders.ts';
import { unwritable } from './unwritable.ts';

/** What a copy of a session is to be. */
export interface WantedCopy {
  kind: 'fork' | 'child';
  /** The header of a copy that is like the original, changed. */
  describe(copy: SessionHeader): SessionHeader;
}

export interface SessionCopiesDeps {
  index: Pick<SessionIndex, 'stored' | 'upsert'>;
  folds: Pick<ColdFolds, 'read' | 'keeps'>;
  sink: EventSink;
  holder: LeaseHolder;
  slots: Slots;
  clock: Clock;
  directory(row: Pick<SessionHeader, 'id' | 'workspaceId'>): string;
  logOptions(row: Pick<SessionHeader, 'id' | 'workspaceId'>): SessionLogOptions;
  headerOf(log: SessionLog, row: SessionHeader): SessionHeader;
  /** Loaded with the first session. */
  engine(): Promise<{ activate(log: SessionLog, row: SessionHeader): LiveSession }>;
  loaded(id: string): LiveSession | undefined;
  /** Puts in what `make` returns. */
  add(id: string, make: () => Promise<LiveSession>): Promise<LiveSession>;
}

/** Makes a copy of a session; see `LiveSessions.fork`. */
export function createSessionCopies(deps: SessionCopiesDeps) {
  const { index, folds, sink, holder, slots, clock, directory } = deps;

  /** Its folder is made first, and nothing is left of one that fails. */
  async function copied<T>(source: SessionHeader, id: string, make: (stage: string) => Promise<T>): Promise<T> {
    const dir = directory({ id, workspaceId: source.workspaceId });
    const stage = unfinishedPath(dir);
    try {
      await copySessionFolder(directory(source), stage);
      return await make(stage);
    } catch (error) {
      await Promise.allSettled([journalFiles.remove(stage), journalFiles.remove(dir)]);
      throw error instanceof ServiceError ? error : unwritable(id, error);
    }
  }

  /**
   * The row of a session of which nothing is known but that it has all of the journal and nothing is open there. The copy
   * of one that wakes is loaded like the original.
   */
  async function toldByRow(id: string): Promise<StoredHeader | undefined> {
    const stored = deps.loaded(id) || folds.keeps(id) ? undefined : index.stored(id);
    if (!stored?.header.settled || stored.header.wakes.length > 0) return undefined;
    return (await journalFiles.size(directory(stored.header))) === stored.journalLength ? stored : undefined;
  }

  async function copyByRow(
    { header: source, journalLength: end }: StoredHeader,
    id: string,
    { kind, describe }: WantedCopy,
  ): Promise<Session> {
    const row = describe(copiedHeader(undefined, source, { id, createdAt: clock.now() }));
    const session = sessionOfHeader(row, undefined);
    const { frames, length } = await copied(source, id, (stage) =>
      forkSettledJournal({
        ...deps.logOptions(row),
        source: { dir: directory(source), sessionId: source.id, end },
        stage,
        kind,
        session,
        titleKind: row.titleKind ?? 'replaceable',
      }),
    );
    index.upsert(row, length);
    for (const frame of frames) sink.publish(frame);
    return session;
  }

  async function copyFolded(source: SessionHeader, id: string, { kind, describe }: WantedCopy): Promise<LiveSession> {
    const { workspaceId } = source;
    const from = directory(source);
    const { activate } = await deps.engine();
    const loaded = deps.loaded(source.id);
    await loaded?.log.refresh();
    if (loaded) assertNoTurn(source.id, loaded.state);
    // What is appended from here on is no part of the copy.
    const counts = loaded ? knownLines(loaded.log) : foldedLines(await folds.read(source.id, from));
    let row: SessionHeader | undefined;
    const begin = async (state: LogState) => {
      if (!loaded && (await lockOwner(from, holder))) assertNoTurn(source.id, state);
      row = describe(copiedHeader(state, source, { id, createdAt: clock.now() }));
      return { session: sessionOfHeader(row, undefined), titleKind: row.titleKind ?? 'replaceable' };
    };
    return copied(source, id, async (stage) => {
      const lines = { dir: from, sessionId: source.id, ...counts };
      const options = { ...deps.logOptions({ id, workspaceId }), source: lines, stage, kind, begin };
      const sessionLog = await slots.run(() => forkSessionLog(options));
      const made = row ?? source;
      index.upsert(deps.headerOf(sessionLog, made), sessionLog.length);
      const copy = activate(sessionLog, made);
      copy.open();
      return copy;
    });
  }

  return async (source: SessionHeader, wanted: WantedCopy): Promise<Session> => {
    const id = newSessionId();
    const stored = await toldByRow(source.id);
    if (stored) return copyByRow(stored, id, wanted);
    return (await deps.add(id, () => copyFolded(source, id, wanted))).view();
  };
}

/** What of a log's file is copied, and its fold, unless it has records that stand in no line. */
function knownLines({ claimed, readOnly, unwritten, length, state, holdsTexts }: SessionLog) {
  const end = claimed ? length : undefined;
  if (readOnly || unwritten.length > 0) return { end };
  return { end: length, known: { state: copyState(state), holdsTexts } };
}

/** The same of one that is not loaded. */
function foldedLines({ unsettled, length, state, blobs }: ColdFold) {
  if (unsettled || length === 0) return {};
  return { end: length, known: { state: copyState(state), holdsTexts: blobs.holdsTexts } };
}

function assertNoTurn(id: string, { activity }: LogState): void {
  if (activity.turns.size > 0) {
    throw new ServiceError('session.busy', `Session "${id}" cannot be forked while a turn is running`);
  }
}
