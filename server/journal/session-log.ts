/** A session's open journal: the one object with which the agent loop writes, follows and reads a session. */
import type { Clock } from '#server/clock.ts';
import type { ServiceError } from '#server/errors/service-error.ts';
import type { EventSink, StreamPosition } from '#server/events/frame.ts';
import type { Logger } from '#server/logging/log.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { VolatileFields, VolatileType } from '#schema/events/catalogue.ts';
import type { Message } from '#schema/rest/message.ts';
import type { Session } from '#schema/rest/session.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import { createAppender } from './append.ts';
import { createBlobStore, type BlobStore } from './blobs.ts';
import { createCatchUp } from './catch-up.ts';
import { createClaim } from './claim.ts';
import type { ColdFold } from './cold-fold.ts';
import type { LogState } from './fold.ts';
import { journalFiles, type JournalFiles } from './journal-files.ts';
import { assertNotHeld } from './lock.ts';
import type { LogListener, VolatileEvent } from './log-listeners.ts';
import { readMessages } from './message-pages.ts';
import { createOpenJournal } from './open-journal.ts';
import type { FeatureProjection } from './projections/feature-projection.ts';
import { event, internal, recordOf, type Draft, type JournalRecord, type TitleKind } from './records.ts';
import { replayLines } from './replay.ts';
import type { StoredText, Whole } from './texts.ts';
import { emptyView, newHeader, type JournalView } from './view.ts';

export interface SessionLog {
  readonly sessionId: string;
  readonly dir: string;
  /** Epoch of the session's event stream. */
  readonly epoch: string;
  /** All projections, always as of `position()`. Its long texts are references to files: see `load`. */
  readonly state: LogState;
  position(): StreamPosition;
  /** Bytes of the journal from which `state` is folded. */
  readonly length: number;
  /** Whether this process is the writer, so that `state` is complete; else another process may be ahead of it. */
  readonly claimed: boolean;
  /** Throws `session.busy` when another live process owns the session. */
  assertNotHeld(): Promise<void>;
  /** Whether an operation without a record of its own runs. */
  readonly held: boolean;
  /** The reason why no record can be appended any more: a failed write, or a newer format (`persistence.failure`). */
  readonly readOnly: ServiceError | undefined;
  /**
   * Makes this process the writer; required before the first `append`. Catches up with what another process wrote
   * meanwhile and settles what an exited one left open. Throws `session.busy` while a live process owns the session,
   * `persistence.failure` when it cannot be written. Idempotent.
   */
  claim(): Promise<void>;
  /**
   * Writes one line, folds it and publishes its events; returns the last number assigned so far. Completes the line
   * with `work_changed` and with the positions of splices. Reentrant: inside a publish its frames wait until those of
   * the running line are sent, so listeners must not read the fold, which may be a line ahead. Throws
   * `persistence.failure`, and then nothing is folded and the log is read-only; throws a plain error without a previous
   * `claim`, and for a text that should have been stored (`store`) or read (`load`) first.
   */
  append(drafts: Draft[]): number;
  /** `append` for timers and listeners, which cannot catch: a failure is logged. Returns whether it was written. */
  attempt(drafts: Draft[]): boolean;
  /** Begins an operation that has no record of its own, with these drafts on the line that publishes it. */
  beginWork(drafts?: Draft[]): void;
  /** Ends such an operation. */
  endWork(drafts?: Draft[]): void;
  /** Publishes an event that is never written, in order with the appended ones. */
  volatile<T extends VolatileType>(agent: string, type: T, fields: VolatileFields<T>, options?: VolatileOptions): void;
  /** Adds a listener for all later batches and volatile events, in order; the returned function removes it. */
  listen(listener: LogListener): () => void;
  /** Whether `state` may contain long texts. */
  readonly holdsTexts: boolean;
  /** Records that are folded but in no line of the file. */
  readonly unwritten: JournalRecord[];
  /** The durable frames `after < seq <= upTo` as first sent, oldest first; read from the file. */
  replay(after: number, upTo: number): AsyncIterable<string>;
  /**
   * Returns the value with its long texts written, without blocking, for drafts that are then created and appended with
   * no await in between. Required above 256 KiB. Throws `persistence.failure`, and then the log is read-only.
   */
  store<T>(value: T): Promise<StoredText<T>>;
  /** Writes a text of any length to its own file, `blobs/<blob>`. Throws `persistence.failure`, as `store`. */
  keep(text: string): Promise<{ blob: string; bytes: number }>;
  /** Returns a part of `state` with all long texts read, without blocking. */
  load<T>(value: T): Promise<Whole<T>>;
  /** Messages by their indexes in `state.messages.history`, as of the call. */
  readMessages(places: readonly number[]): Promise<Message[]>;
  /** Catches up with another process; settles the session when that process has exited. A no-op while claimed. */
  refresh(): Promise<void>;
  /** Resolves when everything written is on the disk. */
  sync(): Promise<void>;
  /**
   * Ends this process's use of the session: appends `last` and `session.closed` (if it wrote anything), syncs, releases
   * the lock. The log accepts no appends afterwards.
   */
  close(reason?: 'exit' | 'archive' | 'idle', last?: Draft[]): Promise<void>;
}

export interface VolatileOptions {
  /** UTF-16 units of the text before this delta. */
  offset?: number;
  /** An event of the transport, not of the agent: the payload has no `time`. */
  transport?: true;
}

export interface SessionLogOptions {
  /** The session's folder; must exist. */
  dir: string;
  sessionId: string;
  sink: EventSink;
  log: Pick<Logger, 'warn' | 'error'>;
  clock: Clock;
  /** This program's version, for `session.opened`. */
  version: string;
  /** Called in a microtask when the log became read-only while appending or syncing. */
  onFailure(error: ServiceError): void;
  /** Projections of the features. */
  projections?: readonly FeatureProjection[];
  /** The process in whose name the lock is acquired. */
  holder: LeaseHolder;
  /** File access for writing; tests pass one that fails. */
  files?: JournalFiles;
}

export interface CreateSessionLogOptions extends SessionLogOptions {
  /** The session as `event.session.created` contains it. */
  session: Session;
  titleKind: TitleKind;
}

/**
 * Creates the folder and the journal of a new session: its header and the line of `event.session.created`, which is
 * published. Throws errors of the file system. The lock is not acquired: no other process knows the session yet.
 */
export function createSessionLog(options: CreateSessionLogOptions): SessionLog {
  const { dir, sessionId, session, titleKind, files = journalFiles } = options;
  const t = Date.parse(session.created_at);
  const created = recordOf(event(MAIN_AGENT, 'event.session.created', { session }, { titleKind }), 1);
  const blobs = createBlobStore(dir, files);
  const header = newHeader(sessionId, t);
  const headerText = `${JSON.stringify(header)}\n`;
  const line = `${blobs.encode({ t, r: [created] })}\n`;
  files.create(dir, headerText + line);
  const view = emptyView(header, options.projections ?? []);
  view.length = view.ownStart = Buffer.byteLength(headerText);
  const opened = openLog(options, blobs, view);
  opened.follow(line);
  return opened.log;
}

/**
 * Folds a session's journal. What an exited process left open is settled immediately, unless the settling emits no
 * event (then it waits for the first append) or a live process owns the session (then it is reported as running). A
 * missing journal, or one without a complete first line, starts with a new epoch. `known`, a fold of the file with the
 * same projections that the caller gives up, is continued. Throws `internal.error` when the journal is damaged.
 */
export async function openSessionLog(options: SessionLogOptions, known?: ColdFold): Promise<SessionLog> {
  const { dir, sessionId, files, projections = [] } = options;
  const view = known ?? emptyView(newHeader(sessionId, options.clock.now()), projections);
  const opened = openLog(options, known?.blobs ?? createBlobStore(dir, files), view);
  await opened.load();
  return opened.log;
}

interface OpenedLog {
  log: SessionLog;
  /** Folds the file without publishing its frames, and settles what an exited process left open. */
  load(): Promise<void>;
  /** Folds and publishes a line already stored at the view's end. */
  follow(line: string, before?: number): void;
}

/** Creates a log over a view of its file, without reading. */
export function openLog(options: SessionLogOptions, blobs: BlobStore, view: JournalView): OpenedLog {
  const { dir, sessionId, holder, files, version } = options;
  const journal = createOpenJournal(options, blobs, view);
  const appender = createAppender(journal, version);
  const catchUp = createCatchUp(journal);
  const { claim, settleAbandoned, ended, giveBack } = createClaim(journal, { appender, catchUp, holder, files });

  /** Writes a file next to the journal; a failure makes the log read-only, as a failed write of the journal does. */
  async function written<T>(write: () => Promise<T>): Promise<T> {
    journal.assertWritable();
    try {
      return await write();
    } catch (error) {
      throw journal.fail(error);
    }
  }

  const log: SessionLog = {
    sessionId,
    dir,
    get epoch() {
      return journal.view.header.epoch;
    },
    get state() {
      return journal.view.state;
    },
    get length() {
      return journal.view.length;
    },
    get claimed() {
      return journal.held !== undefined;
    },
    get held() {
      return appender.held;
    },
    get readOnly() {
      return journal.readOnly;
    },
    position: () => ({ seq: journal.view.seq, epoch: journal.view.header.epoch }),
    claim,
    async assertNotHeld() {
      if (!journal.held) await assertNotHeld(dir, sessionId, holder);
    },
    append: appender.append,
    attempt: appender.attempt,
    beginWork: appender.beginWork,
    endWork: appender.endWork,
    volatile(agent, type, fields, { offset, transport } = {}) {
      const time = journal.now();
      const payload = { type, ...(transport ? {} : { time }), ...fields, agentId: agent, sessionId };
      const place = offset === undefined ? {} : { offset };
      const { seq } = journal.view;
      // The parameters ensure that the type and its fields belong together.
      const volatile = { type, fields } as VolatileEvent;
      journal.listeners.tell((listener) => listener.volatile(agent, volatile));
      journal.outbox.publish([{ type, seq, ...journal.stream(), time, payload, volatile: true, ...place }]);
    },
    listen: journal.listeners.add,
    get holdsTexts() {
      return blobs.holdsTexts;
    },
    get unwritten() {
      return [...journal.waiting.map((draft) => recordOf(draft, undefined)), ...journal.closedByFailure];
    },
    async *replay(after, upTo) {
      if (after >= upTo) return;
      const { marks, length: end, ownStart } = journal.view;
      const start = marks.findLast((one) => one.seq <= after + 1)?.offset ?? ownStart;
      yield* replayLines({ dir, blobs, stream: journal.stream(), start, end, after, upTo });
    },
    store: (value) => written(() => blobs.store(value)),
    keep: (text) => written(() => blobs.keep(text)),
    load: blobs.load,
    readMessages: (places) => readMessages(dir, journal.view.state.messages, places, blobs),
    async refresh() {
      if (journal.held || journal.closed) return;
      await catchUp();
      await settleAbandoned();
    },
    async sync() {
      try {
        await journal.held?.writer.sync();
      } catch (error) {
        throw journal.fail(error);
      }
    },
    async close(reason = 'exit', last = []) {
      if (journal.closed) return;
      await ended();
      if (journal.held && !journal.readOnly && (appender.opened || last.length > 0)) {
        appender.attempt([...last, internal(MAIN_AGENT, 'session.closed', { reason })]);
      }
      journal.closed = true;
      await giveBack();
    },
  };

  return {
    log,
    async load() {
      await catchUp(Infinity);
      await settleAbandoned();
    },
    follow: appender.follow,
  };
}
