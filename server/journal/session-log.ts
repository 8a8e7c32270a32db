/**
 * A session's journal, open: append, fold, publish and replay in one order (architecture, "The journal").
 *
 * `append` collects; once per microtask everything collected is numbered and written with one call, then line by line
 * folded and published. So nobody hears of an event that a crash of the process can lose, and code in the same microtask
 * as an `append` does not see it in the fold yet.
 */
import { mkdir, open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { monotonicFactory } from 'ulid';
import { errorMessage, ServiceError } from '../errors.ts';
import { frameText, type EventSink, type StreamPosition } from '../events/frame.ts';
import type { Logger } from '../log.ts';
import { durableEvents, type VolatileFields, type VolatileType } from '../schema/events/catalogue.ts';
import type { Session } from '../schema/session.ts';
import { errorCode } from '../storage/errno.ts';
import { createBlobStore, type BlobFs } from './blobs.ts';
import { applyBatch, initialState, type LogState } from './fold.ts';
import { JOURNAL_FORMAT, type JournalHeader } from './header.ts';
import { acquireLock, lockOwner, type Lock } from './lock.ts';
import { parseBatch, readLines, seqOf } from './line-reader.ts';
import { recordFrame } from './record-frame.ts';
import { engine, engineTypes, event, unsent, type Batch, type Draft, type JournalRecord, type TitleKind } from './records.ts';
import { journalPath, readHeader, replayLines } from './replay.ts';
import { settle } from './settle.ts';
import { openWriter, type JournalWriter, type WriterFs } from './writer.ts';

export interface SessionLog {
  readonly sessionId: string;
  readonly dir: string;
  /** Of the session's event stream. */
  readonly epoch: string;
  /** All projections, always as of `position()`. Long texts in it read their file when touched: see `load`. */
  readonly state: LogState;
  position(): StreamPosition;
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
  volatile<T extends VolatileType>(
    agent: string,
    type: T,
    fields: VolatileFields<T>,
    options?: VolatileOptions,
  ): void;
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
  /** What writes; tests pass one that fails. */
  fs?: WriterFs & BlobFs;
}

export interface CreateSessionLogOptions extends SessionLogOptions {
  /** As `event.session.created` tells it. */
  session: Session;
  titleKind: TitleKind;
}

type Queued =
  | { kind: 'append'; t: number; drafts: Draft[] }
  | { kind: 'volatile'; t: number; publish(seq: number): void };

/** Bytes between two remembered places of the file, from which a replay starts reading. */
const MARK_BYTES = 64 * 1024;

const ulid = monotonicFactory();

/**
 * Makes the folder and the journal of a new session: its header and the line of `event.session.created`, which is
 * published. Throws what the file system throws. The lock is not taken: nobody else knows the session yet.
 */
export async function createSessionLog(options: CreateSessionLogOptions): Promise<SessionLog> {
  const { dir, sessionId, session, titleKind } = options;
  const t = Date.parse(session.created_at);
  const header: JournalHeader = newHeader(sessionId, t);
  const created: JournalRecord[] = [
    numbered(event('main', 'event.session.created', { session }, { titleKind }), 1),
  ];
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const lines = `${JSON.stringify(header)}\n${createBlobStore(dir, options.fs).encode({ t, r: created })}\n`;
  const file = await open(journalPath(dir), 'wx', 0o600);
  try {
    await file.writeFile(lines);
    await file.datasync();
  } finally {
    await file.close();
  }
  return openLog(options, true);
}

/**
 * Folds a session's journal. What a dead process left open is settled at once, unless the settling emits nothing (then
 * it waits for the first append) or a live process holds the session (then it shows as running). A missing or torn-off
 * journal starts anew with a new epoch. Throws 50001 when the journal is damaged.
 */
export function openSessionLog(options: SessionLogOptions): Promise<SessionLog> {
  return openLog(options, false);
}

async function openLog(options: SessionLogOptions, fresh: boolean): Promise<SessionLog> {
  const { dir, sessionId, sink, log } = options;
  const path = journalPath(dir);
  const blobs = createBlobStore(dir, options.fs);

  let header = newHeader(sessionId, Date.now());
  let state = initialState(header);
  let seq = 0;
  /** Bytes of complete lines read or written; 0 = the header is still to be written. */
  let length = 0;
  let historyEnd = 0;
  let marks: { seq: number; offset: number }[] = [];
  /** Settling that emits nothing: folded already, written in front of the first line. */
  let waiting: Draft[] = [];

  let readOnly: ServiceError | undefined;
  let queue: Queued[] = [];
  let lastTime = 0;
  let scheduled = false;
  let opened = false;
  let closed = false;
  let claiming: Promise<void> | undefined;
  let held: { lock: Lock; writer: JournalWriter } | undefined;
  const unknownTypes = new Set<string>();

  // Reading

  async function readAll(publishAbove: number): Promise<void> {
    const file = await openForReading(path);
    if (!file) return;
    try {
      const start = length === 0 ? await begin(file) : length;
      for await (const lines of readLines(file, start)) {
        for (const line of lines) {
          const copied = line.offset < historyEnd;
          take(parseBatch(line, blobs), line.offset, copied, publishAbove);
          length = line.end;
        }
      }
    } finally {
      await file.close();
    }
    lastTime = Math.max(lastTime, state.lastTime);
  }

  /** Reads the header; returns where the lines begin. */
  async function begin(file: FileHandle): Promise<number> {
    const found = await readHeader(file);
    if (!found) return 0;
    header = found.header;
    length = found.end;
    historyEnd = found.end + (header.history ?? 0);
    state = initialState(header);
    if (header.format > JOURNAL_FORMAT) {
      readOnly = new ServiceError(
        50003,
        `session ${sessionId} was written by a newer version (journal format ${header.format})`,
      );
    }
    return found.end;
  }

  /** Folds a line that is in the file and publishes its frames above that number. */
  function take(batch: Batch, offset: number, copied: boolean, publishAbove: number): void {
    const sent = copied ? [] : batch.records.filter(isNumbered);
    const mark = marks.at(-1);
    const first = sent[0];
    if (first && (!mark || offset - mark.offset >= MARK_BYTES)) marks.push({ seq: first.seq, offset });
    applyBatch(state, batch);
    for (const record of batch.records) noticeUnknown(record.type);
    seq = sent.at(-1)?.seq ?? seq;
    if (publishAbove === Infinity) return;
    tell(() => options.onBatch?.(batch));
    for (const record of sent) {
      if (record.seq > publishAbove) tell(() => sink.publish(recordFrame(record, batch.t, { sessionId, epoch: header.epoch })));
    }
  }

  function noticeUnknown(type: string): void {
    if (type in durableEvents || engineTypes.has(type) || unknownTypes.has(type)) return;
    unknownTypes.add(type);
    log.warn('a journal holds records of an unknown type; they are kept and skipped', { sessionId, type });
  }

  /** A listener's mistake must not stop the journal. */
  function tell(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      log.error('a listener of a session log failed', { sessionId, err: error });
    }
  }

  /** Starts over from the file, when what waits was folded in front of lines of another process. */
  async function reread(): Promise<void> {
    const before = seq;
    const grown = waiting.length > 0 && (await fileSize(path)) > length;
    if (grown) {
      waiting = [];
      length = 0;
      seq = 0;
      marks = [];
    }
    await readAll(before);
  }

  // Settling

  async function settleAbandoned(): Promise<void> {
    const drafts = settle(state);
    if (drafts.length === 0 || (await lockOwner(dir))) return;
    if (readOnly || drafts.every((draft) => draft.unsent)) {
      wait(drafts);
      return;
    }
    try {
      await claim();
    } catch (error) {
      if (error instanceof ServiceError && error.code === 40901) return;
      log.error('an interrupted session could not be settled on disk', { sessionId, err: error });
      wait(settle(state).map(unsent));
    }
  }

  function wait(drafts: Draft[]): void {
    waiting.push(...drafts);
    const records = drafts.map((draft) => numbered(draft, undefined));
    applyBatch(state, { t: state.lastTime, records });
  }

  // Writing

  function claim(): Promise<void> {
    claiming ??= takeLock().catch((error: unknown) => {
      claiming = undefined;
      throw error;
    });
    return claiming;
  }

  async function takeLock(): Promise<void> {
    if (readOnly) throw readOnly;
    if (closed) throw new ServiceError(50003, `session ${sessionId} is closed`);
    const taken = await acquireLock(dir).catch(failed);
    if ('owner' in taken) {
      const { pid } = taken.owner;
      const message = `session ${sessionId} is held by process ${pid}; use that server, or stop it first`;
      throw new ServiceError(40901, message, { details: { reason: 'lock', pid } });
    }
    try {
      await reread();
      const writer = openWriter(path, {
        length,
        beforeSync: blobs.sync,
        onSyncError: (error) => fail(error),
        fs: options.fs,
      });
      held = { lock: taken.lock, writer };
      if (length === 0) writeHeader(writer);
    } catch (error) {
      held = undefined;
      await taken.lock.release();
      throw error instanceof ServiceError ? error : storageError(error);
    }
    const drafts = settle(state);
    if (drafts.length === 0) return;
    if (drafts.every((draft) => draft.unsent)) wait(drafts);
    else settleOnDisk(drafts);
  }

  function failed(error: unknown): never {
    throw storageError(error);
  }

  function writeHeader(writer: JournalWriter): void {
    const line = `${JSON.stringify(header)}\n`;
    writer.write(line);
    length = writer.length();
    historyEnd = length;
  }

  /** One line with the time of the last one; the life it closes wrote no `session.opened` of ours yet. */
  function settleOnDisk(drafts: Draft[]): void {
    const t = state.lastTime;
    writeQueued([{ kind: 'append', t, drafts }], false);
    if (readOnly) throw readOnly;
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    queueMicrotask(flush);
  }

  function flush(): void {
    scheduled = false;
    const items = queue;
    queue = [];
    if (items.length > 0) writeQueued(items, true);
  }

  interface Encoded {
    text: string;
    /** Whether the fold knows it already. */
    folded: boolean;
  }

  function writeQueued(items: Queued[], opens: boolean): void {
    let next = seq;
    let announce = opens && !opened;
    const give = (draft: Draft): JournalRecord =>
      draft.unsent || engineTypes.has(draft.type) ? numbered(draft, undefined) : numbered(draft, ++next);
    const encode = (t: number, drafts: Draft[], folded: boolean): Encoded => ({
      text: `${blobs.encode({ t, r: drafts.map(give) })}\n`,
      folded,
    });
    const encodeItem = (item: Queued): Encoded[] => {
      if (item.kind === 'volatile' || readOnly) return [];
      const first = announce;
      announce = false;
      const head = first ? [engine('main', 'session.opened', { version: options.version, pid: process.pid })] : [];
      return [
        ...(first && waiting.length > 0 ? [encode(state.lastTime, waiting, true)] : []),
        encode(item.t, [...head, ...item.drafts], false),
      ];
    };
    let encoded: Encoded[][] = [];
    try {
      encoded = items.map(encodeItem);
      const text = encoded.flat().map((line) => line.text).join('');
      if (text !== '') writerHeld().write(text);
    } catch (error) {
      fail(error);
    }
    if (readOnly) {
      blobs.forget();
      return;
    }
    if (opens && !announce && !opened) {
      opened = true;
      waiting = [];
    }
    items.forEach((item, index) => {
      if (item.kind === 'volatile') item.publish(seq);
      else for (const line of encoded[index] ?? []) follow(line);
    });
    blobs.forget();
  }

  /** Folds and publishes a line just written, decoded again: live and loaded state come from the same bytes. */
  function follow({ text, folded }: Encoded): void {
    const offset = length;
    length += Buffer.byteLength(text);
    if (folded) return;
    take(parseBatch({ text, offset, end: length }, blobs), offset, false, 0);
  }

  function writerHeld(): JournalWriter {
    if (!held) throw new Error(`session ${sessionId} is not claimed`);
    return held.writer;
  }

  function fail(error: unknown): void {
    if (readOnly) return;
    readOnly = storageError(error);
    log.error('a session can no longer be written', { sessionId, err: error });
    const failure = readOnly;
    tell(() => options.onFailure(failure));
  }

  function storageError(error: unknown): ServiceError {
    return new ServiceError(50003, `session ${sessionId} cannot be written: ${errorMessage(error)}`, { cause: error });
  }

  function nowNotBefore(): number {
    lastTime = Math.max(Date.now(), lastTime);
    return lastTime;
  }

  function append(drafts: Draft[]): void {
    if (!held || closed) throw new Error(`session ${sessionId}: append without the lock`);
    if (drafts.length === 0 || readOnly) return;
    queue.push({ kind: 'append', t: nowNotBefore(), drafts });
    schedule();
  }

  async function flushed(): Promise<void> {
    while (scheduled) await Promise.resolve();
    if (readOnly) throw readOnly;
  }

  await readAll(fresh ? 0 : Infinity);
  if (!fresh) await settleAbandoned();

  return {
    sessionId,
    dir,
    get epoch() {
      return header.epoch;
    },
    get state() {
      return state;
    },
    position: () => ({ seq, epoch: header.epoch }),
    get readOnly() {
      return readOnly;
    },
    claim,
    append,
    flushed,
    volatile(agent, type, fields, { offset, transport } = {}) {
      const t = nowNotBefore();
      const time = transport ? {} : { time: t };
      const payload = { type, ...time, ...fields, agentId: agent, sessionId };
      const publish = (at: number): void =>
        tell(() =>
          sink.publish({
            type,
            seq: at,
            sessionId,
            time: t,
            payload,
            epoch: header.epoch,
            volatile: true,
            ...(offset === undefined ? {} : { offset }),
          }),
        );
      if (scheduled) queue.push({ kind: 'volatile', t, publish });
      else publish(seq);
    },
    async *replay(after, upTo) {
      if (after >= upTo) return;
      const mark = marks.findLast((one) => one.seq <= after + 1);
      const stream = { sessionId, epoch: header.epoch };
      yield* replayLines({ dir, blobs, stream, start: mark?.offset ?? historyEnd, end: length, after, upTo });
    },
    load: (value) => blobs.load(value),
    async refresh() {
      if (held || closed) return;
      await reread();
      await settleAbandoned();
    },
    async sync() {
      await held?.writer.sync().catch(failed);
    },
    async close(reason = 'exit', last = []) {
      if (closed) return;
      await claiming?.catch(() => undefined);
      const writes = opened || queue.some((item) => item.kind === 'append') || last.length > 0;
      if (held && writes) append([...last, engine('main', 'session.closed', { reason })]);
      flush();
      closed = true;
      if (!held) return;
      const { lock, writer } = held;
      held = undefined;
      try {
        await writer.close();
      } catch (error) {
        log.error('a session could not be synced when it was closed', { sessionId, err: error });
      } finally {
        await lock.release();
      }
    },
  };
}

function newHeader(sessionId: string, createdAt: number): JournalHeader {
  return { type: 'metadata', format: JOURNAL_FORMAT, session_id: sessionId, epoch: `ep_${ulid()}`, created_at: createdAt };
}

/** The record of a draft, its keys in the order of the file. */
function numbered(draft: Draft, seq: number | undefined): JournalRecord {
  const { unsent: _, ...record } = draft;
  return seq === undefined ? record : Object.assign({ seq }, record);
}

function isNumbered(record: JournalRecord): record is JournalRecord & { seq: number } {
  return seqOf(record) !== undefined;
}

async function openForReading(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function fileSize(path: string): Promise<number> {
  const file = await openForReading(path);
  if (!file) return 0;
  try {
    return (await file.stat()).size;
  } finally {
    await file.close();
  }
}
