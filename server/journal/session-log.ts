/** A session's journal, open: the one object that the engine writes, follows and reads a session with. */
import type { Clock } from '#server/clock.ts';
import type { ServiceError } from '#server/errors/service-error.ts';
import type { EventSink, StreamPosition } from '#server/events/frame.ts';
import type { Logger } from '#server/logging/log.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { VolatileFields, VolatileType } from '#schema/events/catalogue.ts';
import type { Message } from '#schema/message.ts';
import type { Session } from '#schema/session.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import { createAppender } from './append.ts';
import { createBlobStore, type BlobStore } from './blobs.ts';
import { createCatchUp } from './catch-up.ts';
import { createClaim } from './claim.ts';
import type { ColdFold } from './cold-fold.ts';
import type { LogState } from './fold.ts';
import { journalFiles, type JournalFiles } from './journal-files.ts';
import { assertNotHeld } from './lock.ts';
import type { LogListener, VolatileFact } from './log-listeners.ts';
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
  /** Of the session's event stream. */
  readonly epoch: string;
  /** All projections, always as of `position()`. Its long texts are in files: see `load`. */
  readonly state: LogState;
  position(): StreamPosition;
  /** Bytes of the journal that `state` is made from. */
  readonly length: number;
  /** This process is the writer, so `state` is all there is; else another process may be ahead of it. */
  readonly claimed: boolean;
  /** Throws 40901 when another live process holds the session. */
  assertNotHeld(): Promise<void>;
  /** Work without a record of its own is under way. */
  readonly held: boolean;
  /** Why nothing can be appended any more: a failed write, or a journal of a newer format (50003). */
  readonly readOnly: ServiceError | undefined;
  /**
   * Makes this process the writer; before the first `append`. Catches up with what another process wrote meanwhile and
   * settles what a dead one left open. Throws 40901 while a live process holds the session, 50003 when it cannot be
   * written. Repeating it does nothing.
   */
  claim(): Promise<void>;
  /**
   * Writes one line, folds it and publishes its events; returns the last number given so far. Completes the line with
   * `work_changed` and with the places of splices. From inside a publish it does the same, only its frames wait until
   * those of the running line are out; a listener never reads the fold, which may be a line ahead of it. Throws 50003,
   * and then nothing is folded and the log is read-only; throws a plain error where `claim` did not come first, and for
   * a text that should have been stored (`store`) or read (`load`) first.
   */
  append(drafts: Draft[]): number;
  /** `append` for timers and listeners, where nobody could catch: a failure is logged. Whether it was written. */
  attempt(drafts: Draft[]): boolean;
  /** Work that has no record of its own begins, with these drafts on the line that tells of it. */
  hold(drafts?: Draft[]): void;
  /** It has ended. */
  release(drafts?: Draft[]): void;
  /** Publishes an event that is never written; it keeps its place among the appended ones. */
  volatile<T extends VolatileType>(agent: string, type: T, fields: VolatileFields<T>, options?: VolatileOptions): void;
  /** Told of all that is folded from here on, and of what is never written, in their order; until the returned call. */
  listen(listener: LogListener): () => void;
  /** Whether long texts may stand in `state`. */
  readonly holdsTexts: boolean;
  /** Folded, but in no line of the file. */
  readonly unwritten: JournalRecord[];
  /** The durable frames `after < seq <= upTo` as first sent, oldest first; read from the file. */
  replay(after: number, upTo: number): AsyncIterable<string>;
  /**
   * The value with its long texts written, without blocking, for drafts that are then made and appended with no await
   * in between. Every text of more than 256 KiB has to be stored so. Throws 50003, and then the log is read-only.
   */
  store<T>(value: T): Promise<StoredText<T>>;
  /** Keeps a text in a file of its own, however short it is: `blobs/<blob>`. Throws 50003, as `store`. */
  keep(text: string): Promise<{ blob: string; bytes: number }>;
  /** A part of `state` with all long texts read in, without blocking. */
  load<T>(value: T): Promise<Whole<T>>;
  /** Messages by their places in `state.messages.history`, as they are now. */
  readMessages(places: readonly number[]): Promise<Message[]>;
  /** Follows what another process appended to the session; settles it when that process died. Nothing while claimed. */
  refresh(): Promise<void>;
  /** Resolves when everything written is on the disk. */
  sync(): Promise<void>;
  /**
   * Ends this process' part in the session: `last` and `session.closed` (if it wrote anything), disk, lock. The log
   * takes nothing afterwards.
   */
  close(reason?: 'exit' | 'archive' | 'idle', last?: Draft[]): Promise<void>;
}

export interface VolatileOptions {
  /** UTF-16 units before this delta. */
  offset?: number;
  /** Made by the transport, not by the engine: the payload has no `time`. */
  transport?: true;
}

export interface SessionLogOptions {
  /** The session's folder; must exist. */
  dir: string;
  sessionId: string;
  sink: EventSink;
  log: Pick<Logger, 'warn' | 'error'>;
  clock: Clock;
  /** Of this program, for `session.opened`. */
  version: string;
  /** The log became read-only while appending or syncing; called in a microtask of its own. */
  onFailure(error: ServiceError): void;
  /** Folds that features bring. */
  projections?: readonly FeatureProjection[];
  /** In whose name the lock is taken. */
  holder: LeaseHolder;
  /** What writes; tests pass one that fails. */
  files?: JournalFiles;
}

export interface CreateSessionLogOptions extends SessionLogOptions {
  /** As `event.session.created` tells it. */
  session: Session;
  titleKind: TitleKind;
}

/**
 * Makes the folder and the journal of a new session: its header and the line of `event.session.created`, which is
 * published. Throws what the file system throws. The lock is not taken: nobody else knows the session yet.
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
 * Folds a session's journal. What a dead process left open is settled at once, unless the settling emits nothing (then
 * it waits for the first append) or a live process holds the session (then it shows as running). A missing journal, or
 * one without a complete first line, starts anew with a new epoch. `known`, a fold of the file with the same projections
 * that is given away, is read on. Throws 50001 when the journal is damaged.
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
  /** Folds what the file holds, as known to everybody, and settles what a dead process left open. */
  load(): Promise<void>;
  /** Folds and publishes a line that stands at the view's end already. */
  follow(line: string, before?: number): void;
}

/** A log over a view of its file; reads nothing. */
export function openLog(options: SessionLogOptions, blobs: BlobStore, view: JournalView): OpenedLog {
  const { dir, sessionId, holder, files, version } = options;
  const journal = createOpenJournal(options, blobs, view);
  const appender = createAppender(journal, version);
  const catchUp = createCatchUp(journal);
  const { claim, settleAbandoned, ended, giveBack } = createClaim(journal, { appender, catchUp, holder, files });

  /** Writes a file beside the journal; a failure ends the writing as one of the journal itself does. */
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
    hold: appender.hold,
    release: appender.release,
    volatile(agent, type, fields, { offset, transport } = {}) {
      const time = journal.now();
      const payload = { type, ...(transport ? {} : { time }), ...fields, agentId: agent, sessionId };
      const place = offset === undefined ? {} : { offset };
      const { seq } = journal.view;
      // The type and its fields belong together, as the parameters say.
      const fact = { type, fields } as VolatileFact;
      journal.listeners.tell((listener) => listener.volatile(agent, fact));
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
