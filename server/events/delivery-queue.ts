/**
 * What waits for one connection: a single FIFO over which events, acks and system frames leave in the order they came.
 * Session events are written in batches, everything else at once behind them, and with it what follows in the same turn
 * of the event loop. A client that reads too slowly loses volatile frames first, then whole sessions, which it is told
 * to resynchronise, and at last its connection.
 */
import { createAnswerBound } from './answer-bound.ts';
import { deltaText } from './deltas.ts';
import type { SendLane } from './frame-handler.ts';
import type { EventFrame, StreamPosition } from './frame.ts';
import { frameText } from './frame.ts';
import { errorText, resyncText } from './outgoing.ts';
import type { OutgoingEvent } from './outgoing.ts';
import { foldStatus, mergeDeltas, thinnedKind } from './thinning.ts';
import type { Peer } from './peer.ts';

export const BATCH_FRAMES = 64;
/** Above this many unsent bytes of the socket nothing more is written to it. */
export const HIGH_WATER_BYTES = 1024 * 1024;
export const QUEUED_FRAMES_PER_SESSION = 1000;
export const QUEUED_BYTES = 8 * 1024 * 1024;

export interface DeliveryTimes {
  /** Longest wait of a session event for others to be written with it. */
  batchMs: number;
  /** Interval at which a full socket is looked at again. */
  drainMs: number;
  /** A connection on which no byte drained for so long is closed. */
  stallMs: number;
}

export const deliveryTimes: DeliveryTimes = { batchMs: 16, drainMs: 5, stallMs: 30_000 };

export interface DeliveryQueue {
  /** Writes an ack, a system frame or the like at once, behind what is queued. */
  sendNow(text: string | Uint8Array, lane?: SendLane): void;
  /**
   * Queues a live event; global ones and text, which waited to be joined, are written at once, others may wait for a
   * batch.
   */
  sendEvent(event: OutgoingEvent, global: boolean): void;
  /**
   * Queues a frame of a session that is text already; `position` is that of the session's events then. It waits for a
   * batch unless it is to go at once. Wait for `room()` before one of a replay.
   */
  sendEncoded(sessionId: string, text: string | Uint8Array, position: StreamPosition, atOnce?: boolean): void;
  /** Keeps what is queued so far apart from what follows: a client may read here how far a text has come. */
  seal(): void;
  /** Drops what is queued of a session in favour of one `resync_required`. */
  cut(sessionId: string, position: StreamPosition): void;
  /** Resolves when the socket takes data again, or never will. */
  room(): Promise<void>;
  /** Resolves when one more answer may be queued, or never will. */
  answerRoom(): Promise<void>;
  /** Writes what the socket takes, drops the rest, ends all timers. */
  close(): void;
}

interface DeliveryQueueDeps {
  peer: Peer;
  times?: DeliveryTimes;
  /** What was queued of the session is gone and the client was told so. */
  onCut(sessionId: string): void;
  /** The connection was closed because it drained nothing for too long. */
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

/** The queued frames of which only the newest are kept, oldest first. */
interface Newest {
  id: string;
  entries: Entry[];
  bytes: number;
}

interface Entry {
  size: number;
  /** Absent when a merge has changed the frame: it is then encoded when it is written. */
  bytes?: Uint8Array | string;
  /** Of a delta: what its text takes of `size`. */
  textBytes?: number;
  /** Present on volatile events, which may still be changed or dropped. */
  frame?: EventFrame;
  lane?: Lane;
  newest?: Newest;
  /** It counts among the unsent answers. */
  isAnswer?: boolean;
  /** Bounded by who sent it. */
  isReplay?: boolean;
  /** Nothing behind it may be merged into it. */
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
  /** Set where something was written in this turn of the event loop: what follows in it leaves in the same write. */
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

  /** Gives the earlier of two neighbours the text of the later one; true when they became one frame. */
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

  /** Takes an entry out of the list; its thinned kind is the caller's to correct. */
  function unlink(entry: Entry): void {
    const { previous, next, lane, newest } = entry;
    if (previous) previous.next = next;
    else head = next;
    if (next) next.previous = previous;
    else tail = previous;
    if (newest) {
      // Its oldest, whether it is written or dropped.
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
        following.bytes = undefined;
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
    // The notice stands in the session's lane, so that a second cut replaces it.
    append({ size: text.length, bytes: text, lane: laneOf(sessionId, position) });
    onCut(sessionId);
  }

  /** Makes room for one more frame of a lane; false when the lane itself had to be cut and the frame with it. */
  function admit(lane: Lane, size: number): boolean {
    const isOver = () => lane.frames >= QUEUED_FRAMES_PER_SESSION || queuedBytes + size > QUEUED_BYTES;
    if (!isOver()) return true;
    if (!waiting) flush();
    // Whatever its size, a frame may follow when nothing waits before it.
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

  /** The lane with most bytes, `own` counted with `added` more. */
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

  /** The stream with room for one more frame: its oldest ones are dropped for it. */
  function newestOf(id: string, size: number): Newest {
    let found = streams.get(id);
    const isOver = () =>
      found && (found.entries.length >= QUEUED_FRAMES_PER_SESSION || found.bytes + size > QUEUED_BYTES);
    if (isOver() && !waiting) flush();
    for (let oldest = found?.entries[0]; oldest && isOver(); oldest = found?.entries[0]) {
      if (oldest.previous && oldest.sealed) oldest.previous.sealed = true;
      unlink(oldest);
    }
    // Emptied, it was forgotten.
    found = streams.get(id) ?? { id, entries: [], bytes: 0 };
    streams.set(id, found);
    return found;
  }

  function enqueue(sessionId: string, position: StreamPosition, entry: Entry): void {
    if (waiting && tail && absorb(tail, entry)) return;
    if (!admit(laneOf(sessionId, position), entry.size)) return;
    // Asked again: making room may have emptied the lane, and an empty one is forgotten.
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
