/**
 * Coalesces streamed output. Models send chunks of a few characters; each stage that passes them on joins those that
 * arrive within `COALESCE_MS`. No chunk waits in two stages: see "Streamed output" in `docs/protocol.md`.
 */
import type { Clock } from '#server/clock.ts';

/** Longest time that a chunk or frame of a session waits for later ones, in milliseconds. */
export const COALESCE_MS = 16;

export interface ChunkCoalescer<Chunk> {
  /** Joins the chunk to the pending one of the key; else emits that one, and this one waits. */
  add(key: string, chunk: Chunk): void;
  /** Emits the pending chunk of a key immediately. */
  flush(key: string): void;
  /** Emits all pending chunks. */
  flushAll(): void;
  /** Drops all pending chunks. */
  drop(): void;
}

export interface ChunkCoalescerDeps<Chunk> {
  /** Adds `next` to the pending chunk; returns false, without a change, if it does not continue it. */
  append(pending: Chunk, next: Chunk): boolean;
  emit(key: string, chunk: Chunk): void;
  clock: Pick<Clock, 'setTimeout'>;
}

interface Pending<Chunk> {
  chunk: Chunk;
  cancelTimer: () => void;
}

/** Creates a coalescer with one pending chunk per key. */
export function createChunkCoalescer<Chunk>({ append, emit, clock }: ChunkCoalescerDeps<Chunk>): ChunkCoalescer<Chunk> {
  const pendingByKey = new Map<string, Pending<Chunk>>();

  function flush(key: string): void {
    const pending = pendingByKey.get(key);
    if (!pending) return;
    pendingByKey.delete(key);
    pending.cancelTimer();
    emit(key, pending.chunk);
  }

  return {
    add(key, chunk) {
      const pending = pendingByKey.get(key);
      if (pending && append(pending.chunk, chunk)) return;
      flush(key);
      pendingByKey.set(key, { chunk, cancelTimer: clock.setTimeout(() => flush(key), COALESCE_MS) });
    },
    flush,
    flushAll() {
      for (const key of pendingByKey.keys()) flush(key);
    },
    drop() {
      for (const { cancelTimer } of pendingByKey.values()) cancelTimer();
      pendingByKey.clear();
    },
  };
}
