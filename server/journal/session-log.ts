/**
 * A session's journal, open: append, fold, publish and replay in one order (architecture, "The journal").
 *
 * `append` collects; once per microtask everything collected is numbered and written with one call, then line by line
 * folded and published. So nobody hears of an event that a crash of the process can lose, and code in the same microtask
 * as an `append` does not see it in the fold yet.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import type { EventSink, StreamPosition } from '#server/events/frame.ts';
import type { Logger } from '#server/logging/log.ts';
import type { VolatileFields, VolatileType } from '#schema/events/catalogue.ts';
import type { Session } from '#schema/session.ts';
import { createBlobStore, type BlobFs } from './blobs.ts';
import { applyBatch, type LogState } from './fold.ts';
import { JOURNAL_FORMAT, type JournalHeader } from './header.ts';
import { acquireLock, lockOwner, type Lock } from './lock.ts';
import { parseBatch, type SentRecord } from './line-reader.ts';
import { recordFrame } from './record-frame.ts';
import { internalTypes, eventTypes } from './record-types.ts';
import { internal, event, unsent, type Batch, type Draft, type JournalRecord, type TitleKind } from './records.ts';
import { journalPath, replayLines } from './replay.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import { settleCrash } from './crash-recovery.ts';
import { emptyView, foldLine, journalSize, newHeader, readOn } from './view.ts';
import { openWriter, type JournalWriter, type WriterFs } from './writer.ts';

export interface SessionLog {
  readonly sessionId: string;
  readonly dir: string;
  /** Of the session's event stream. */
  readonly epoch: string;
  /** All projections, always as of `position()`. Long texts in it read their file when touched: see `load`. */
  readonly state: LogState;
  position(): StreamPosition;
  /** Bytes of the journal that `state` is made from. */
  readonly length: number;
  /** This process is the writer, so `state` is all there is; else another process may be ahead of it. */
  readonly claimed: boolean;
  /** Why nothing can be appended any more: a failed write, or a journal of a newer format (50003). */
  readonly readOnly: ServiceError | undefined;
  /**
   * Makes this process the writer; before the first `append`. Catches up with what another process wrote meanwhile and
   * settles what a dead one left open. Throws 40901 while a live process holds the session, 50003 when it cannot be
   * written. Repeating it does nothing.
   */
  claim(): Promise<void>;
  /**
   * Appends one line. Never throws for I/O: a failure makes the log read-only and calls `onFailure`; the drafts, and all
   * later ones, are then lost.
   */
  append(drafts: Draft[]): void;
  /** Resolves when all appended so far is written, folded and published; rejects with 50003 when it could not be. */
  flushed(): Promise<void>;
  /** Publishes an event that is never written; it keeps its place among the appended ones. */
  volatile<T extends VolatileType>(agent: string, type: T, fields: VolatileFields<T>, options?: VolatileOptions): void;
  /** The durable frames `after < seq <= upTo` as first sent, oldest first; read from the file. */
  replay(after: number, upTo: number): AsyncIterable<string>;
  /** A plain copy of a part of `state` with all long texts read in, without blocking. */
  load<T>(value: T): Promise<T>;
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
  /** UTF-16 units before this delta (ws-events.md §6.5). */
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
  /** The log became read-only while appending or syncing. */
  onFailure(error: ServiceError): void;
  /** After a line is folded and before its frames go out. */
  onBatch?(batch: Batch): void;
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

/** What one microtask collects: a line to write, or a volatile frame that keeps its place among the lines. */
type Queued = { kind: 'line'; t: number; drafts: Draft[] } | { kind: 'frame'; publish(seq: number): void };

/**
 * Makes the folder and the journal of a new session: its header and the line of `event.session.created`, which is
 * published. Throws what the file system throws. The lock is not taken: nobody else knows the session yet.
 */
export async function createSessionLog(options: CreateSessionLogOptions): Promise<SessionLog> {
  const { dir, sessionId, session, titleKind } = options;
  const t = Date.parse(session.created_at);
  const created = record(event('main', 'event.session.created', { session }, { titleKind }), 1);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const header = newHeader(sessionId, t);
  const headerLine = `${JSON.stringify(header)}\n`;
  const line = `${createBlobStore(dir, options.fs).encode({ t, r: [created] })}\n`;
  writeFileSync(journalPath(dir), headerLine + line, { flag: 'wx', mode: 0o600 });
  return openLog(options, { header, start: Buffer.byteLength(headerLine), line });
}

/**
 * Folds a session's journal. What a dead process left open is settled at once, unless the settling emits nothing (then
 * it waits for the first append) or a live process holds the session (then it shows as running). A missing journal, or
 * one without a complete first line, starts anew with a new epoch. Throws 50001 when the journal is damaged.
 */
export function openSessionLog(options: SessionLogOptions): Promise<SessionLog> {
  return openLog(options);
}

/** The file of a new session: its header, where that ends, and the one line behind it, which nobody has been told. */
interface NewJournal {
  header: JournalHeader;
  start: number;
  line: string;
}

async function openLog(options: SessionLogOptions, created?: NewJournal): Promise<SessionLog> {
  const { dir, sessionId, sink, log } = options;
  const blobs = createBlobStore(dir, options.fs);
  let view = emptyView(newHeader(sessionId, Date.now()));
  /** Settling that emits nothing: folded already, to be written in front of the first line. */
  let waiting: Draft[] = [];
  let readOnly: ServiceError | undefined;
  let held: { lock: Lock; writer: JournalWriter } | undefined;
  let claiming: Promise<void> | undefined;
  let reading: Promise<void> = Promise.resolve();
  /** While the log is opened; afterwards everything read is new. */
  let publishAbove: number | undefined = Infinity;
  /** This process wrote its `session.opened`. */
  let opened = false;
  let closed = false;

  let queue: Queued[] = [];
  let flushing: Promise<void> | undefined;
  /** Lines or frames are being told to listeners right now. */
  let telling = false;
  let lastTime = 0;

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

  function publish(batch: Batch, sent: SentRecord[]): void {
    tell(() => options.onBatch?.(batch));
    for (const one of sent) tell(() => sink.publish(recordFrame(blobs.plain(one), batch.t, identity())));
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
    const next = restart ? emptyView(view.header) : view;
    await readOn(next, dir, blobs, (batch, sent) => {
      reportUnknown(batch);
      const fresh = sent.filter((one) => one.seq > told);
      if (fresh.length > 0 || (!restart && publishAbove === undefined)) publish(batch, fresh);
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
  function settleLater(drafts: Draft[]): void {
    waiting.push(...drafts);
    applyBatch(view.state, { t: view.state.lastTime, records: drafts.map((draft) => record(draft, undefined)) });
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
      if (error instanceof ServiceError && error.name === 'session.busy') return;
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
    if (readOnly) throw readOnly;
    if (closed) throw new ServiceError('persistence.failure', `session ${sessionId} is closed`);
    const lock = await acquireLock(dir, sessionId, options.holder);
    try {
      await catchUp();
      if (readOnly) throw readOnly;
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
    else write([{ kind: 'line', t: view.state.lastTime, drafts }]);
    if (readOnly) throw readOnly;
  }

  function writeHeader(writer: JournalWriter): void {
    writer.write(`${JSON.stringify(view.header)}\n`);
    view.length = view.ownStart = writer.length();
  }

  function fail(error: unknown): void {
    if (readOnly) return;
    const failure = unwritable(error);
    readOnly = failure;
    log.error('a session can no longer be written', { sessionId, err: error });
    tell(() => options.onFailure(failure));
  }

  /** Writes all lines with one call; then folds them and tells of them, one after the other, frames in their places. */
  function write(items: Queued[]): void {
    const numbers = createNumbering(view.seq);
    const texts = new Map<Queued, string>();
    try {
      for (const item of items) {
        if (item.kind === 'line') texts.set(item, `${blobs.encode({ t: item.t, r: item.drafts.map(numbers) })}\n`);
      }
      if (texts.size > 0) writerHeld().write([...texts.values()].join(''));
    } catch (error) {
      fail(error);
    }
    telling = true;
    for (const item of readOnly ? [] : items) {
      const text = texts.get(item);
      if (item.kind === 'frame') tell(() => item.publish(view.seq));
      else if (text !== undefined) follow(text);
    }
    telling = false;
    blobs.forget();
  }

  /** The line is decoded again, so that a live state comes from the same bytes as a loaded one. */
  function follow(text: string): void {
    const offset = view.length;
    const end = offset + Buffer.byteLength(text);
    const batch = parseBatch({ text, offset, end }, blobs);
    publish(batch, foldLine(view, batch, offset, end));
  }

  function writerHeld(): JournalWriter {
    if (!held) throw new Error(`session ${sessionId} is not claimed`);
    return held.writer;
  }

  /** What goes in front of this process' first line. */
  function writeOpening(): void {
    opened = true;
    if (waiting.length === 0) return;
    const line = { t: view.state.lastTime, r: waiting.map((draft) => record(draft, undefined)) };
    waiting = [];
    try {
      const text = `${blobs.encode(line)}\n`;
      writerHeld().write(text);
      // Folded since it waits; only its place in the file is new.
      view.length += Buffer.byteLength(text);
    } catch (error) {
      fail(error);
    }
  }

  function flush(): void {
    flushing = undefined;
    const items = queue;
    queue = [];
    const first = items.find((item) => item.kind === 'line');
    if (first && !opened) {
      writeOpening();
      const opening = internal('main', 'session.opened', { version: options.version, pid: process.pid });
      first.drafts = [opening, ...first.drafts];
    }
    if (items.length > 0) write(items);
  }

  function enqueue(item: Queued): void {
    queue.push(item);
    flushing ??= Promise.resolve().then(flush);
  }

  function now(): number {
    lastTime = Math.max(Date.now(), lastTime);
    return lastTime;
  }

  function append(drafts: Draft[]): void {
    if (closed) throw new Error(`session ${sessionId} is closed`);
    if (drafts.length === 0 || readOnly) return;
    writerHeld();
    enqueue({ kind: 'line', t: now(), drafts });
  }

  if (created) {
    view = { ...emptyView(created.header), length: created.start, ownStart: created.start };
    follow(created.line);
  } else {
    await catchUp();
  }
  publishAbove = undefined;
  await settleAbandoned();

  return {
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
    get readOnly() {
      return readOnly;
    },
    position: () => ({ seq: view.seq, epoch: view.header.epoch }),
    claim,
    append,
    async flushed() {
      await flushing;
      if (readOnly) throw readOnly;
    },
    volatile(agent, type, fields, { offset, transport } = {}) {
      const time = now();
      const payload = { type, ...(transport ? {} : { time }), ...fields, agentId: agent, sessionId };
      const place = offset === undefined ? {} : { offset };
      const send = (seq: number) => sink.publish({ type, seq, ...identity(), time, payload, volatile: true, ...place });
      if (flushing || telling) enqueue({ kind: 'frame', publish: send });
      else tell(() => send(view.seq));
    },
    async *replay(after, upTo) {
      if (after >= upTo) return;
      const mark = view.marks.findLast((one) => one.seq <= after + 1);
      const { length: end, ownStart } = view;
      yield* replayLines({ dir, blobs, stream: identity(), start: mark?.offset ?? ownStart, end, after, upTo });
    },
    load: blobs.load,
    async refresh() {
      if (held || closed) return;
      await catchUp();
      await settleAbandoned();
    },
    async sync() {
      try {
        await held?.writer.sync();
      } catch (error) {
        fail(error);
        throw unwritable(error);
      }
    },
    async close(reason = 'exit', last = []) {
      if (closed) return;
      await claiming?.catch(() => undefined);
      await flushing;
      if (held && (opened || last.length > 0)) {
        append([...last, internal('main', 'session.closed', { reason })]);
        await flushing;
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
}

/** The record of a draft, its keys in the order of the file. */
function record(draft: Draft, seq: number | undefined): JournalRecord {
  const { unsent: _unsent, ...fields } = draft;
  return seq === undefined ? fields : Object.assign({ seq }, fields);
}

/** Gives event records that are to be sent the numbers after `seq`. */
function createNumbering(seq: number): (draft: Draft) => JournalRecord {
  let next = seq;
  return (draft) => record(draft, draft.unsent || internalTypes.has(draft.type) ? undefined : ++next);
}

/** Warns once of each record type that no fold knows; such records are kept and skipped (records.md §1.6). */
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
