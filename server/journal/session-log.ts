/**
 * A session's journal, open: append, fold, publish and replay in one order.
 *
 * `append` writes, folds and publishes before it returns: the fold is never behind, and nobody hears of an event that a
 * crash of the process can lose.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import type { EventFrame, EventSink, StreamPosition } from '#server/events/frame.ts';
import type { Logger } from '#server/logging/log.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { VolatileFields, VolatileType } from '#schema/events/catalogue.ts';
import type { Message } from '#schema/message.ts';
import type { Session } from '#schema/session.ts';
import { withActivity } from './activity.ts';
import { assertAtHand, createBlobStore, type BlobFs, type BlobStore } from './blobs.ts';
import { placeSplices } from './context-size.ts';
import { settleCrash } from './crash-recovery.ts';
import { applyBatch, type LogState } from './fold.ts';
import { JOURNAL_FORMAT } from './header.ts';
import { encodedBatch, type SentRecord } from './line-reader.ts';
import { readMessages } from './message-pages.ts';
import { acquireLock, assertNotHeld, lockOwner, type Lock } from './lock.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import type { FeatureProjection } from './projections/feature-projection.ts';
import { messagesProjection } from './projections/messages.ts';
import { isSurelyCut, recordFrame, sendable } from './record-frame.ts';
import { eventTypes, internalTypes } from './record-types.ts';
import { event, internal, unsent, type Batch, type CompleteDraft, type Draft } from './records.ts';
import { type JournalRecord, type TitleKind } from './records.ts';
import { journalPath, replayLines } from './replay.ts';
import type { StoredText, Whole } from './texts.ts';
import { emptyView, foldLine, journalSize, newHeader, readOn, type JournalView } from './view.ts';
import { openWriter, type JournalWriter, type WriterFs } from './writer.ts';

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
  /** The durable frames `after < seq <= upTo` as first sent, oldest first; read from the file. */
  replay(after: number, upTo: number): AsyncIterable<string>;
  /**
   * The value with its long texts written, without blocking, for drafts that are then made and appended with no await in
   * between. Every text of more than 256 KiB has to be stored so. Throws 50003, and then the log is read-only.
   */
  store<T>(value: T): Promise<StoredText<T>>;
  /** A part of `state` with all long texts read in, without blocking. */
  load<T>(value: T): Promise<Whole<T>>;
  /** Messages by their places in `state.messages.history`, as they are now. */
  readMessages(places: readonly number[]): Promise<Message[]>;
  /** Follows what another process appended to the session; settles it when that process died. Nothing while claimed. */
  refresh(): Promise<void>;
  /** Resolves when everything written is on the disk. */
  sync(): Promise<void>;
  /**
   * Ends this process' part in the session: `last` and `session.closed` (if it wrote anything), disk, lock. The log takes
   * nothing afterwards.
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
  /** Of this program, for `session.opened`. */
  version: string;
  /** The log became read-only while appending or syncing; called in a microtask of its own. */
  onFailure(error: ServiceError): void;
  /** Folds that features bring. */
  projections?: readonly FeatureProjection[];
  /** In whose name the lock is taken. */
  holder: LeaseHolder;
  /** What writes; tests pass one that fails. */
  fs?: WriterFs & BlobFs;
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
  const { dir, sessionId, session, titleKind } = options;
  const t = Date.parse(session.created_at);
  const created = record(event(MAIN_AGENT, 'event.session.created', { session }, { titleKind }), 1);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const blobs = createBlobStore(dir, options.fs);
  const header = newHeader(sessionId, t);
  const headerText = `${JSON.stringify(header)}\n`;
  const line = `${blobs.encode({ t, r: [created] })}\n`;
  writeFileSync(journalPath(dir), headerText + line, { flag: 'wx', mode: 0o600 });
  const view = emptyView(header, options.projections ?? []);
  view.length = view.ownStart = Buffer.byteLength(headerText);
  const opened = openLog(options, blobs, view);
  opened.follow(line);
  return opened.log;
}

/**
 * Folds a session's journal. What a dead process left open is settled at once, unless the settling emits nothing (then
 * it waits for the first append) or a live process holds the session (then it shows as running). A missing journal, or
 * one without a complete first line, starts anew with a new epoch. Throws 50001 when the journal is damaged.
 */
export async function openSessionLog(options: SessionLogOptions): Promise<SessionLog> {
  const { dir, sessionId, projections = [] } = options;
  const view = emptyView(newHeader(sessionId, Date.now()), projections);
  const opened = openLog(options, createBlobStore(dir, options.fs), view);
  await opened.load();
  return opened.log;
}

interface OpenedLog {
  log: SessionLog;
  /** Folds what the file holds, as known to everybody, and settles what a dead process left open. */
  load(): Promise<void>;
  /** Folds and publishes a line that stands at the view's end already. */
  follow(line: string): void;
}

function openLog(options: SessionLogOptions, blobs: BlobStore, emptyJournal: JournalView): OpenedLog {
  const { dir, sessionId, sink, log, projections = [] } = options;
  let view = emptyJournal;
  /** Settling that emits nothing: folded already, to be written in front of the first line. */
  let waiting: CompleteDraft[] = [];
  let readOnly: ServiceError | undefined;
  let held: { lock: Lock; writer: JournalWriter } | undefined;
  let claiming: Promise<void> | undefined;
  let reading: Promise<void> = Promise.resolve();
  /** Frames of the file up to this number are known to everybody: all of them while it is opened. */
  let publishAbove: number | undefined = Infinity;
  /** This process wrote its `session.opened`. */
  let opened = false;
  let closed = false;
  let lastTime = 0;
  /** Work without a record of its own: how much of it, and whether clients know. */
  let holds = 0;
  let holdsChanged = false;

  /** Frames that wait while others go out. */
  let outbox: (() => void)[] = [];
  let publishing = false;

  const identity = () => ({ sessionId, epoch: view.header.epoch });
  const unwritable = (error: unknown) =>
    error instanceof ServiceError
      ? error
      : new ServiceError('persistence.failure', `session ${sessionId} cannot be written: ${errorMessage(error)}`, {
          cause: error,
        });

  /** A listener's mistake must not stop the journal. */
  function tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      log.error('a listener of a session log failed', { sessionId, err: error });
    }
  }

  /** In the order of the calls, also of those that come from inside a publish. */
  function publish(frames: (() => void)[]): void {
    outbox.push(...frames);
    if (publishing) return;
    publishing = true;
    for (const send of outbox) tell(send);
    outbox = [];
    publishing = false;
  }

  const publishFrames = (frames: EventFrame[]) => publish(frames.map((frame) => () => sink.publish(frame)));

  /** The frames of a line of the file, to be published once it is folded. */
  async function framesOf({ t }: Batch, sent: SentRecord[]): Promise<() => void> {
    const records = await Promise.all(sent.map((one) => blobs.load(sendable(one))));
    return () => publishFrames(records.map((one) => recordFrame(one, t, identity())));
  }

  const reportUnknown = createUnknownTypeReport(log, sessionId);

  /** One after another: what reads would else fold a line twice. */
  function catchUp(): Promise<void> {
    const done = reading.then(readMore);
    reading = done.catch(() => undefined);
    return done;
  }

  /** Reads what the file has more, from the start when lines of another process came before what waits. */
  async function readMore(): Promise<void> {
    if (held) return;
    const told = publishAbove ?? view.seq;
    const restart = waiting.length > 0 && (await journalSize(dir)) > view.length;
    const next = restart ? emptyView(view.header, projections) : view;
    await readOn(next, dir, blobs, (batch, sent) => {
      reportUnknown(batch);
      const untold = sent.filter((one) => one.seq > told);
      if (untold.length > 0) return framesOf(batch, untold);
    });
    if (restart) waiting = [];
    view = next;
    lastTime = Math.max(lastTime, view.state.lastTime);
    if (view.header.format > JOURNAL_FORMAT) {
      const format = `journal format ${view.header.format}`;
      readOnly = new ServiceError(
        'persistence.failure',
        `session ${sessionId} was written by a newer version (${format})`,
      );
    }
  }

  /** Settles for the view only, until something is written anyway. */
  function settleLater(drafts: CompleteDraft[]): void {
    const records = drafts.map((draft) => record(draft, undefined));
    applyBatch(view.state, { t: view.state.lastTime, records }, undefined, waiting.length);
    waiting.push(...drafts);
  }

  async function settleAbandoned(): Promise<void> {
    if (settleCrash(view.state).length === 0 || (await lockOwner(dir, options.holder))) return;
    // Again, because somebody else may have settled during the look at the lock.
    const drafts = held ? [] : settleCrash(view.state);
    if (drafts.length === 0) return;
    if (readOnly || drafts.every((draft) => draft.unsent)) {
      settleLater(drafts.map(unsent));
      return;
    }
    try {
      await claim();
    } catch (error) {
      if (error instanceof ServiceError && error.code === 40901) return;
      log.error('an interrupted session could not be settled on disk', { sessionId, err: error });
      settleLater(settleCrash(view.state).map(unsent));
    }
  }

  function claim(): Promise<void> {
    claiming ??= takeLock().catch((error: unknown) => {
      claiming = undefined;
      throw unwritable(error);
    });
    return claiming;
  }

  async function takeLock(): Promise<void> {
    assertWritable();
    const lock = await acquireLock(dir, sessionId, options.holder);
    try {
      await catchUp();
      assertWritable();
      const writer = openWriter(journalPath(dir), {
        length: view.length,
        beforeSync: blobs.sync,
        onSyncError: fail,
        fs: options.fs,
      });
      held = { lock, writer };
      if (view.length === 0) writeHeader(writer);
    } catch (error) {
      held?.writer.close().catch(() => undefined);
      held = undefined;
      await lock.release();
      throw error;
    }
    const drafts = settleCrash(view.state);
    if (drafts.length === 0) return;
    if (drafts.every((draft) => draft.unsent)) settleLater(drafts);
    else write(view.state.lastTime, drafts);
  }

  function writeHeader(writer: JournalWriter): void {
    writer.write(`${JSON.stringify(view.header)}\n`);
    view.length = view.ownStart = writer.length();
  }

  function assertWritable(): void {
    if (readOnly) throw readOnly;
    if (closed) throw new ServiceError('persistence.failure', `session ${sessionId} is closed`);
  }

  function fail(error: unknown): ServiceError {
    if (readOnly) return readOnly;
    const failure = unwritable(error);
    readOnly = failure;
    log.error('a session can no longer be written', { sessionId, err: error });
    // Nothing can be recorded any more, so what is open counts as ended; the next process settles it on disk.
    const drafts = view.broken ? [] : settleCrash(view.state);
    const records = drafts.map((draft) => record(unsent(draft), undefined));
    if (records.length > 0) applyBatch(view.state, { t: view.state.lastTime, records });
    queueMicrotask(() => tell(() => options.onFailure(failure)));
    return failure;
  }

  /** One line, behind what waits to stand in front of it: written, then folded and told of. */
  function write(t: number, drafts: CompleteDraft[]): void {
    let before = '';
    let line: string;
    try {
      if (waiting.length > 0) before = encode(view.state.lastTime, waiting, undefined);
      line = encode(t, drafts, view.seq);
      const { lock, writer } = writable();
      lock.fence();
      writer.write(before + line);
    } catch (error) {
      throw fail(error);
    }
    // What waited is folded since then; only its place in the file is new.
    if (waiting.length > 0) messagesProjection.written(view.state.messages, view.length);
    view.length += Buffer.byteLength(before);
    waiting = [];
    try {
      follow(line);
    } catch (error) {
      // Written, but not folded: nothing may be built on this state.
      throw fail(new Error(errorMessage(error), { cause: error }));
    }
    blobs.forget();
  }

  /** Records that are to be sent get the numbers after `seq`; without one none does. */
  function encode(t: number, drafts: CompleteDraft[], seq: number | undefined): string {
    let next = seq;
    const records = drafts.map((draft) => {
      const numbered = next !== undefined && !draft.unsent && !internalTypes.has(draft.type);
      return record(draft, numbered && next !== undefined ? (next += 1) : undefined);
    });
    return `${blobs.encode({ t, r: records })}\n`;
  }

  /** The line is decoded again, so that a live state comes from the same bytes as a loaded one. */
  function follow(text: string): void {
    const offset = view.length;
    const batch = encodedBatch(text, blobs);
    const sent = foldLine(view, batch, offset, offset + Buffer.byteLength(text));
    publishFrames(sent.map((one) => recordFrame(blobs.encoded(sendable(one)), batch.t, identity())));
  }

  function writable(): { lock: Lock; writer: JournalWriter } {
    if (!held) throw new Error(`session ${sessionId} is not claimed`);
    return held;
  }

  function now(): number {
    lastTime = Math.max(Date.now(), lastTime);
    return lastTime;
  }

  function append(drafts: Draft[]): number {
    assertWritable();
    writable();
    for (const draft of drafts) {
      const sent = !draft.unsent && !internalTypes.has(draft.type);
      assertAtHand(draft, sent && !(draft.type === 'context.spliced' && isSurelyCut(draft)));
    }
    const completed = withActivity(view.state.activity, { held: holds > 0, changed: holdsChanged }, drafts);
    holdsChanged = false;
    if (completed.length === 0) return view.seq;
    const opening = opened
      ? []
      : [internal(MAIN_AGENT, 'session.opened', { version: options.version, pid: process.pid })];
    write(now(), placeSplices(view.state, [...opening, ...completed]));
    opened = true;
    return view.seq;
  }

  function attempt(drafts: Draft[]): boolean {
    try {
      append(drafts);
      return true;
    } catch (error) {
      // A failed write was logged where it failed.
      if (error !== readOnly) log.error('records could not be appended', { sessionId, err: error });
      return false;
    }
  }

  function changeHolds(by: 1 | -1, drafts: Draft[]): void {
    const before = holds > 0;
    holds += by;
    if (holds > 0 !== before) holdsChanged = true;
    append(drafts);
  }

  const sessionLog: SessionLog = {
    sessionId,
    dir,
    get epoch() {
      return view.header.epoch;
    },
    get state() {
      return view.state;
    },
    get length() {
      return view.length;
    },
    get claimed() {
      return held !== undefined;
    },
    get held() {
      return holds > 0;
    },
    get readOnly() {
      return readOnly;
    },
    position: () => ({ seq: view.seq, epoch: view.header.epoch }),
    claim,
    async assertNotHeld() {
      if (!held) await assertNotHeld(dir, sessionId, options.holder);
    },
    append,
    attempt,
    hold: (drafts = []) => changeHolds(1, drafts),
    release: (drafts = []) => changeHolds(-1, drafts),
    volatile(agent, type, fields, { offset, transport } = {}) {
      const time = now();
      const payload = { type, ...(transport ? {} : { time }), ...fields, agentId: agent, sessionId };
      const place = offset === undefined ? {} : { offset };
      const frame = { type, seq: view.seq, ...identity(), time, payload, volatile: true as const, ...place };
      publish([() => sink.publish(frame)]);
    },
    async *replay(after, upTo) {
      if (after >= upTo) return;
      const mark = view.marks.findLast((one) => one.seq <= after + 1);
      const { length: end, ownStart } = view;
      yield* replayLines({ dir, blobs, stream: identity(), start: mark?.offset ?? ownStart, end, after, upTo });
    },
    async store(value) {
      assertWritable();
      try {
        return await blobs.store(value);
      } catch (error) {
        throw fail(error);
      }
    },
    load: blobs.load,
    readMessages: (places) => readMessages(dir, view.state.messages, places, blobs),
    async refresh() {
      if (held || closed) return;
      await catchUp();
      await settleAbandoned();
    },
    async sync() {
      try {
        await held?.writer.sync();
      } catch (error) {
        throw fail(error);
      }
    },
    async close(reason = 'exit', last = []) {
      if (closed) return;
      await claiming?.catch(() => undefined);
      if (held && !readOnly && (opened || last.length > 0)) {
        attempt([...last, internal(MAIN_AGENT, 'session.closed', { reason })]);
      }
      closed = true;
      if (!held) return;
      const { lock, writer } = held;
      held = undefined;
      await writer.close().catch((error: unknown) => {
        log.error('a session could not be synced when it was closed', { sessionId, err: error });
      });
      await lock.release();
    },
  };

  return {
    log: sessionLog,
    follow(line) {
      publishAbove = undefined;
      lastTime = view.state.lastTime;
      follow(line);
    },
    async load() {
      await catchUp();
      publishAbove = undefined;
      await settleAbandoned();
    },
  };
}

/** The record of a draft, its keys in the order of the file. */
function record(draft: CompleteDraft, seq: number | undefined): JournalRecord {
  const { unsent: _unsent, ...fields } = draft;
  return seq === undefined ? fields : Object.assign({ seq }, fields);
}

/** Warns once of each record type that no fold knows; such records are kept and skipped. */
function createUnknownTypeReport(log: Pick<Logger, 'warn'>, sessionId: string): (batch: Batch) => void {
  const reported = new Set<string>();
  return ({ records }) => {
    for (const { type } of records) {
      if (eventTypes.has(type) || internalTypes.has(type) || reported.has(type)) continue;
      reported.add(type);
      log.warn('a journal holds records of an unknown type; they are kept and skipped', { sessionId, type });
    }
  };
}
