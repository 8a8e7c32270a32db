/**
 * Creates sessions as copies of others. If the index row has everything that the copy's first line needs, the journal
 * is copied without folding it; otherwise the source is folded, and the copy is loaded.
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
import type { SessionLog } from '#server/journal/session-log.ts';
import type { Semaphore } from '#server/async/semaphore.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import type { Session } from '#schema/rest/session.ts';
import type { ColdFolds } from '../reading/cold-folds.ts';
import { copySessionFolder } from './copy-folder.ts';
import {
  copiedHeader,
  newSessionId,
  sessionOfHeader,
  type SessionHeader,
  type StoredHeader,
} from '../index/session-header.ts';
import type { SessionIndex } from '../index/session-index.ts';
import type { LiveCache } from '../live/live-cache.ts';
import { headerOf, unwritable, type SessionLoader } from '../live/session-loader.ts';
import type { LiveSession } from '../live/session.ts';
import { unfinishedPath } from '../index/unfinished-folders.ts';

/** The requested copy of a session. */
export interface WantedCopy {
  kind: 'fork' | 'child';
  /** Returns the copy's header, changed as requested. */
  describe(copy: SessionHeader): SessionHeader;
}

export interface SessionCopiesDeps {
  index: Pick<SessionIndex, 'stored' | 'upsert'>;
  folds: Pick<ColdFolds, 'read' | 'keeps'>;
  sink: EventSink;
  holder: LeaseHolder;
  slots: Semaphore;
  clock: Clock;
  loader: Pick<SessionLoader, 'directory' | 'logOptions' | 'engine'>;
  live: Pick<LiveCache<LiveSession>, 'get' | 'add'>;
}

/**
 * Creates a session that begins as a copy of another; must be called in the other's turn. The copy is loaded if the
 * fold of the original is cached or needed. Throws `session.busy` while a turn runs there, `internal.error` for a
 * damaged journal that it folds, `persistence.failure`.
 */
export type CopySession = (source: SessionHeader, wanted: WantedCopy) => Promise<Session>;

export function createSessionCopies(deps: SessionCopiesDeps): CopySession {
  const { index, folds, sink, holder, slots, clock, live } = deps;
  const { directory, logOptions, engine } = deps.loader;

  /** Copies the folder to a temporary path, then calls `make`; removes both folders if that fails. */
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
   * Returns the stored header if it suffices for a copy: no fold is cached, the row covers the whole journal, and
   * nothing is open in it. The copy of a session that wakes must be loaded like the original.
   */
  async function storedByRow(id: string): Promise<StoredHeader | undefined> {
    const stored = live.get(id) || folds.keeps(id) ? undefined : index.stored(id);
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
        ...logOptions(row),
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
    const { activate } = await engine();
    const loaded = live.get(source.id);
    await loaded?.log.refresh();
    if (loaded) assertNoTurn(source.id, loaded.state);
    // Records appended after this line are not copied.
    const counts = loaded ? knownLines(loaded.log) : foldedLines(await folds.read(source.id, from));
    let row: SessionHeader | undefined;
    const begin = async (state: LogState) => {
      if (!loaded && (await lockOwner(from, holder))) assertNoTurn(source.id, state);
      row = describe(copiedHeader(state, source, { id, createdAt: clock.now() }));
      return { session: sessionOfHeader(row, undefined), titleKind: row.titleKind ?? 'replaceable' };
    };
    return copied(source, id, async (stage) => {
      const lines = { dir: from, sessionId: source.id, ...counts };
      const options = { ...logOptions({ id, workspaceId }), source: lines, stage, kind, begin };
      const sessionLog = await slots.run(() => forkSessionLog(options));
      const made = row ?? source;
      index.upsert(headerOf(sessionLog, made), sessionLog.length);
      const copy = activate(sessionLog, made);
      copy.open();
      return copy;
    });
  }

  return async (source, wanted) => {
    const id = newSessionId();
    const stored = await storedByRow(source.id);
    if (stored) return copyByRow(stored, id, wanted);
    return (await live.add(id, () => copyFolded(source, id, wanted))).view();
  };
}

/** Returns the end of the copied part of a log's file, and its fold unless it has records that are not in the file. */
function knownLines({ claimed, readOnly, unwritten, length, state, holdsTexts }: SessionLog) {
  const end = claimed ? length : undefined;
  if (readOnly || unwritten.length > 0) return { end };
  return { end: length, known: { state: copyState(state), holdsTexts } };
}

/** Like `knownLines`, for a session that is not loaded. */
function foldedLines({ unsettled, length, state, blobs }: ColdFold) {
  if (unsettled || length === 0) return {};
  return { end: length, known: { state: copyState(state), holdsTexts: blobs.holdsTexts } };
}

function assertNoTurn(id: string, { activity }: LogState): void {
  if (activity.turns.size > 0) {
    throw new ServiceError('session.busy', `Session "${id}" cannot be forked while a turn is running`);
  }
}
