/**
 * Delivery queue of one connection: a single FIFO through which events, acks and system frames leave in the order in
 * which they were queued. Session events are written in batches; all other frames immediately after the queued ones,
 * and after such a write also the frames of the same event loop turn. Drop policy for a client that reads slowly: first
 * its volatile frames, then whole sessions, each replaced by a `resync_required`, finally the connection.
 */
import { createAnswerBound } from './answer-bound.ts';
import { COALESCE_MS } from './chunk-coalescer.ts';
import { deltaText } from './deltas.ts';
import type { SendClass } from './frame-handler.ts';
import type { EventFrame, StreamPosition } from './frame.ts';
import { frameText } from './frame.ts';
import { errorText, resyncText } from './outgoing.ts';
import type { OutgoingEvent } from './outgoing.ts';
import { foldStatus, mergeDeltas, thinnedKind } from './thinning.ts';
import type { Peer } from './peer.ts';

export const BATCH_FRAMES = 64;
/** High-water mark of the socket's unsent bytes: above it nothing more is written. */
export const HIGH_WATER_BYTES = 1024 * 1024;
export const QUEUED_FRAMES_PER_SESSION = 1000;
export const QUEUED_BYTES = 8 * 1024 * 1024;

export interface DeliveryTimes {
  /** Longest time that a session event waits for a batch. */
  batchMs: number;
  /** Interval at which the buffer of a full socket is polled. */
  drainMs: number;
  /** A connection that drains no byte for this long is closed. */
  stallMs: number;
}

export const deliveryTimes: DeliveryTimes = { batchMs: COALESCE_MS, drainMs: 5, stallMs: 30_000 };

export interface DeliveryQueue {
  /** Writes an ack, a system frame or a domain's frame immediately after the queued ones. */
  sendNow(text: string | Uint8Array, lane?: SendClass): void;
  /**
   * Queues a live event. Global events and text, which the joiner already delayed, are written immediately; others may
   * wait for a batch.
   */
  sendEvent(event: OutgoingEvent, global: boolean): void;
  /**
   * Queues an encoded frame of a session; `position` is that of the session's events at that time. The frame waits for
   * a batch unless `atOnce` is set. Callers of a replay await `room()` before each frame.
   */
  sendEncoded(sessionId: string, text: string | Uint8Array, position: StreamPosition, atOnce?: boolean): void;
  /** Seals the queued text: a client may read the text's length here, so no later chunk may be merged into it. */
  seal(): void;
  /** Replaces the queued frames of a session by one `resync_required`. */
  cut(sessionId: string, position: StreamPosition): void;
  /** Resolves when the socket is below its high-water mark, or when the queue is closed. */
  room(): Promise<void>;
  /** Resolves when one more answer may be queued, or when the queue is closed. */
  answerRoom(): Promise<void>;
  /** Writes until the socket's high-water mark, drops the rest and stops all timers. */
  close(): void;
}

interface DeliveryQueueDeps {
  peer: Peer;
  times?: DeliveryTimes;
  /** The session's queued frames were dropped and a `resync_required` was queued. */
  onCut(sessionId: string): void;
  /** The connection was closed because it drained no byte for `stallMs`. */
  onStalled(): void;
}

/** The queued frames of one stream. */
interface Lane {
  sessionId: string;
  frames: number;
  bytes: number;
  position: StreamPosition;
  /** Droppable frames by kind, oldest first. */
  thinned: Map<string, Entry[]>;
}

/** Queued frames of which only the newest are retained, oldest first. */
interface Newest {
  id: string;
  entries: Entry[];
  bytes: number;
}

interface Entry {
  size: number;
  /** Absent when a merge changed the frame; it is then encoded when it is written. */
  bytes?: Uint8Array | string;
  /** Bytes of a delta's text within `size`. */
  textBytes?: number;
  /** Present on volatile events, which may still be merged or dropped. */
  frame?: EventFrame;
  lane?: Lane;
  newest?: Newest;
  /** Counts towards the bound of unsent answers. */
  isAnswer?: boolean;
  /** Bounded by the sender, so not counted in `queuedBytes`. */
  isReplay?: boolean;
  /** No later frame may be merged into it. */
  sealed?: boolean;
  kind?: string;
  keep?: number;
  previous?: Entry;
  next?: Entry;
}

/** Creates the queue of one peer. */
export function createDeliveryQueue({
  peer,
  times = deliveryTimes,
  onCut,
  onStalled,
}: DeliveryQueueDeps): DeliveryQueue {
  const lanes = new Map<string, Lane>();
  const streams = new Map<string, Newest>();
  let head: Entry | undefined;
  let tail: Entry | undefined;
  let queuedBytes = 0;
  let batched = 0;
  let batchTimer: NodeJS.Timeout | undefined;
  /** Set after a write until the turn of the event loop is over: frames queued meanwhile leave in the same write. */
  let turnOver: NodeJS.Immediate | undefined;
  let drainTimer: NodeJS.Timeout | undefined;
  let waiting = false;
  let closed = false;
  let lowestUnsent = 0;
  let lastDrainAt = 0;
  let roomWaiters: (() => void)[] = [];
  const answers = createAnswerBound();

  function laneOf(sessionId: string, position: StreamPosition): Lane {
    const found = lanes.get(sessionId);
    if (found) {
      if (position.epoch !== found.position.epoch || position.seq > found.position.seq) found.position = position;
      return found;
    }
    const lane: Lane = { sessionId, frames: 0, bytes: 0, position, thinned: new Map() };
    lanes.set(sessionId, lane);
    return lane;
  }

  function resize(entry: Entry, size: number): void {
    queuedBytes += size - entry.size;
    if (entry.lane) entry.lane.bytes += size - entry.size;
    entry.size = size;
  }

  /** Merges the later of two neighbours into the earlier one; returns whether they became one frame. */
  function absorb(earlier: Entry, later: Entry): boolean {
    if (!earlier.frame || !later.frame || earlier.sealed) return false;
    const merged = mergeDeltas(earlier.frame, later.frame);
    if (!merged) return false;
    const { textBytes = 0 } = later;
    earlier.frame = merged;
    earlier.bytes = undefined;
    earlier.sealed = later.sealed;
    earlier.textBytes = (earlier.textBytes ?? 0) + textBytes;
    resize(earlier, earlier.size + textBytes);
    return true;
  }

  function append(entry: Entry): void {
    entry.previous = tail;
    if (tail) tail.next = entry;
    else head = entry;
    tail = entry;
    if (entry.isAnswer) answers.add(entry.size);
    const { lane, newest } = entry;
    if (newest) {
      newest.entries.push(entry);
      newest.bytes += entry.size;
    } else if (!entry.isReplay) queuedBytes += entry.size;
    if (!lane) return;
    lane.frames += 1;
    lane.bytes += entry.size;
    const kind = entry.frame && thinnedKind(entry.frame);
    if (!kind) return;
    entry.kind = kind.key;
    entry.keep = kind.keep;
    const kept = lane.thinned.get(kind.key);
    if (kept) kept.push(entry);
    else lane.thinned.set(kind.key, [entry]);
    if (waiting && kept) thin(kept);
  }

  /** Removes an entry from the list; the caller updates its thinned kind. */
  function unlink(entry: Entry): void {
    const { previous, next, lane, newest } = entry;
    if (previous) previous.next = next;
    else head = next;
    if (next) next.previous = previous;
    else tail = previous;
    if (newest) {
      // The entry is always the oldest one, whether it is written or dropped.
      newest.entries.shift();
      newest.bytes -= entry.size;
      if (newest.entries.length === 0) streams.delete(newest.id);
    } else if (!entry.isReplay) queuedBytes -= entry.size;
    if (entry.isAnswer) answers.remove(entry.size);
    if (lane) {
      lane.frames -= 1;
      lane.bytes -= entry.size;
      if (lane.frames === 0) lanes.delete(lane.sessionId);
    }
  }

  function thin(kept: Entry[]): void {
    for (;;) {
      const [oldest, following] = kept;
      if (!oldest || !following || kept.length <= (oldest.keep ?? kept.length)) return;
      kept.shift();
      if (oldest.frame?.type === 'agent.status.updated' && following.frame) {
        following.frame = foldStatus(oldest.frame, following.frame);
        following.bytes = Buffer.from(frameText(following.frame));
        resize(following, following.bytes.length);
      }
      const { previous, next } = oldest;
      unlink(oldest);
      if (previous && oldest.sealed) previous.sealed = true;
      if (previous && next && absorb(previous, next)) unlink(next);
    }
  }

  function writeHead(entry: Entry): void {
    unlink(entry);
    if (entry.lane && entry.kind) {
      const kept = entry.lane.thinned.get(entry.kind);
      kept?.shift();
      if (kept?.length === 0) entry.lane.thinned.delete(entry.kind);
    }
    peer.send(entry.bytes ?? (entry.frame ? frameText(entry.frame) : ''));
  }

  function startWaiting(): void {
    if (!waiting) {
      waiting = true;
      lowestUnsent = peer.bufferedAmount();
      lastDrainAt = performance.now();
      for (const lane of lanes.values()) for (const kept of lane.thinned.values()) thin(kept);
    }
    drainTimer ??= setTimeout(checkDrain, times.drainMs);
  }

  function stopWaiting(): void {
    waiting = false;
    clearTimeout(drainTimer);
    drainTimer = undefined;
    const waiters = roomWaiters;
    roomWaiters = [];
    for (const resolve of waiters) resolve();
  }

  function checkDrain(): void {
    drainTimer = undefined;
    const unsent = peer.bufferedAmount();
    if (unsent < lowestUnsent) {
      lowestUnsent = unsent;
      lastDrainAt = performance.now();
    } else if (performance.now() - lastDrainAt >= times.stallMs) {
      closeStalled();
      return;
    }
    flush();
  }

  function closeStalled(): void {
    drop();
    peer.send(errorText('internal.error', 'slow consumer', true));
    peer.close(1013, 'slow consumer');
    onStalled();
  }

  function flush(): void {
    clearTimeout(batchTimer);
    batchTimer = undefined;
    batched = 0;
    if (closed) return;
    let wrote = false;
    for (let first = head; first && peer.bufferedAmount() <= HIGH_WATER_BYTES; first = head) {
      writeHead(first);
      wrote = true;
    }
    if (wrote) turnOver ??= setImmediate(() => (turnOver = undefined));
    if (wrote && waiting) {
      lowestUnsent = peer.bufferedAmount();
      lastDrainAt = performance.now();
    }
    if (head) startWaiting();
    else stopWaiting();
  }

  function cutLane(lane: Lane): void {
    const { sessionId, position } = lane;
    for (let entry = head; entry;) {
      const { next } = entry;
      if (entry.lane === lane) unlink(entry);
      entry = next;
    }
    lanes.delete(sessionId);
    const text = resyncText(sessionId, 'buffer_overflow', position);
    // The notice is part of the session's lane, so that a second cut replaces it.
    append({ size: text.length, bytes: text, lane: laneOf(sessionId, position) });
    onCut(sessionId);
  }

  /** Frees capacity for one more frame of a lane. False when the lane itself was cut, which drops the frame too. */
  function admit(lane: Lane, size: number): boolean {
    const isOver = () => lane.frames >= QUEUED_FRAMES_PER_SESSION || queuedBytes + size > QUEUED_BYTES;
    if (!isOver()) return true;
    if (!waiting) flush();
    // With an empty queue a frame of any size is accepted.
    if (!waiting) return true;
    while (isOver()) {
      const victim = lane.frames >= QUEUED_FRAMES_PER_SESSION ? lane : largestLane(lane, size);
      const before = queuedBytes;
      cutLane(victim);
      if (victim === lane) return false;
      if (queuedBytes >= before) return true;
    }
    return true;
  }

  /** The lane with the most bytes, where `own` counts with `added` more. */
  function largestLane(own: Lane, added: number): Lane {
    let largest = own;
    let most = own.bytes + added;
    for (const lane of lanes.values()) {
      if (lane === own || lane.bytes <= most) continue;
      largest = lane;
      most = lane.bytes;
    }
    return largest;
  }

  /** The stream with capacity for one more frame: its oldest frames are dropped to free it. */
  function newestOf(id: string, size: number): Newest {
    let found = streams.get(id);
    const isOver = () =>
      found && (found.entries.length >= QUEUED_FRAMES_PER_SESSION || found.bytes + size > QUEUED_BYTES);
    if (isOver() && !waiting) flush();
    for (let oldest = found?.entries[0]; oldest && isOver(); oldest = found?.entries[0]) {
      if (oldest.previous && oldest.sealed) oldest.previous.sealed = true;
      unlink(oldest);
    }
    // `unlink` deletes a stream together with its last entry.
    found = streams.get(id) ?? { id, entries: [], bytes: 0 };
    streams.set(id, found);
    return found;
  }

  function enqueue(sessionId: string, position: StreamPosition, entry: Entry): void {
    if (waiting && tail && absorb(tail, entry)) return;
    if (!admit(laneOf(sessionId, position), entry.size)) return;
    // Looked up again: `admit` may have emptied the lane, and an empty lane is deleted.
    entry.lane = laneOf(sessionId, position);
    append(entry);
  }

  function batch(): void {
    batched += 1;
    if (waiting) return;
    if (turnOver || batched >= BATCH_FRAMES) flush();
    else batchTimer ??= setTimeout(flush, times.batchMs);
  }

  function drop(): void {
    closed = true;
    clearTimeout(batchTimer);
    clearImmediate(turnOver);
    head = undefined;
    tail = undefined;
    queuedBytes = 0;
    lanes.clear();
    streams.clear();
    stopWaiting();
    answers.close();
  }

  return {
    sendNow(text, lane) {
      if (closed) return;
      const entry: Entry = { size: text.length, bytes: text };
      if (lane === 'answer') entry.isAnswer = true;
      else if (lane === 'replay') entry.isReplay = true;
      else if (typeof lane === 'object') entry.newest = newestOf(lane.newestOf, entry.size);
      append(entry);
      if (!waiting) flush();
    },
    sendEvent({ frame, bytes, textBytes }, global) {
      if (closed) return;
      const entry: Entry = { size: bytes.length, bytes, textBytes };
      if (frame.volatile) entry.frame = frame;
      enqueue(frame.sessionId, { seq: frame.seq, epoch: frame.epoch }, entry);
      if (!global && deltaText(frame) === undefined) batch();
      else if (!waiting) flush();
    },
    sendEncoded(sessionId, text, position, atOnce = false) {
      if (closed) return;
      enqueue(sessionId, position, { size: Buffer.byteLength(text), bytes: text });
      if (!atOnce) batch();
      else if (!waiting) flush();
    },
    seal() {
      if (tail) tail.sealed = true;
    },
    cut(sessionId, position) {
      if (closed) return;
      cutLane(laneOf(sessionId, position));
      if (!waiting) flush();
    },
    room() {
      if (!waiting || closed) return Promise.resolve();
      return new Promise((resolve) => {
        roomWaiters.push(resolve);
      });
    },
    answerRoom: answers.room,
    close() {
      if (closed) return;
      flush();
      drop();
    },
  };
}
