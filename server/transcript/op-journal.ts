/** The newest batches of an agent's operations, for followers that reconnect; lost when the process exits. */
import { blobTexts } from '#server/journal/texts.ts';
import type { StoredOp } from './reducer/state.ts';

export interface StoredBatch {
  seq: number;
  ops: StoredOp[];
}

/** Most batches and bytes of JSON that are retained per agent. */
export const KEPT_BATCHES = 2000;
export const KEPT_BYTES = 8 * 1024 * 1024;
/** Most bytes for all agents of the process. */
export const ALL_KEPT_BYTES = 64 * 1024 * 1024;

export interface OpJournal {
  /** The last number assigned. */
  readonly latest: number;
  /** Stores a batch under the next number. */
  add(ops: StoredOp[]): StoredBatch;
  /** The batches after a number, oldest first; undefined when some were dropped. */
  since(seq: number): StoredBatch[] | undefined;
  close(): void;
}

/** All op journals of a process, with a common bound. */
export interface OpJournals {
  /** Numbering continues after `base`. */
  open(base: number): OpJournal;
  /** The highest number assigned in this process. */
  readonly highest: number;
}

interface Kept extends StoredBatch {
  bytes: number;
}

interface Shelf {
  batches: Kept[];
  bytes: number;
  /** Read counter at its last read, for least-recently-read eviction. */
  readAt: number;
}

interface OpJournalBounds {
  batches?: number;
  bytes?: number;
  allBytes?: number;
}

/** Creates the set; above the common bound the least recently read journals drop their oldest batches. */
export function createOpJournals(bounds: OpJournalBounds = {}): OpJournals {
  const { batches: most = KEPT_BATCHES, bytes: mostBytes = KEPT_BYTES, allBytes = ALL_KEPT_BYTES } = bounds;
  const shelves = new Set<Shelf>();
  let reads = 0;
  let total = 0;
  let highest = 0;

  function dropOldest(shelf: Shelf, count: number): void {
    for (const { bytes } of shelf.batches.splice(0, count)) {
      shelf.bytes -= bytes;
      total -= bytes;
    }
  }

  function bound(shelf: Shelf): void {
    if (shelf.batches.length > most) dropOldest(shelf, shelf.batches.length - most);
    while (shelf.bytes > mostBytes && shelf.batches.length > 0) dropOldest(shelf, 1);
    if (total <= allBytes) return;
    for (const unread of [...shelves].sort((a, b) => a.readAt - b.readAt)) {
      while (total > allBytes && unread.batches.length > 0) dropOldest(unread, 1);
    }
  }

  return {
    get highest() {
      return highest;
    },
    open(base) {
      const shelf: Shelf = { batches: [], bytes: 0, readAt: (reads += 1) };
      shelves.add(shelf);
      let latest = base;
      return {
        get latest() {
          return latest;
        },
        add(ops) {
          latest += 1;
          highest = Math.max(highest, latest);
          const batch = { seq: latest, ops };
          const bytes = sizeOf(ops);
          shelf.batches.push({ ...batch, bytes });
          shelf.bytes += bytes;
          total += bytes;
          bound(shelf);
          return batch;
        },
        since(seq) {
          shelf.readAt = reads += 1;
          if (seq === latest) return [];
          const first = shelf.batches[0]?.seq ?? latest + 1;
          if (seq > latest || first > seq + 1) return undefined;
          return shelf.batches.filter((batch) => batch.seq > seq).map((batch) => ({ seq: batch.seq, ops: batch.ops }));
        },
        close() {
          dropOldest(shelf, shelf.batches.length);
          shelves.delete(shelf);
        },
      };
    },
  };
}

/** Bytes of the JSON with its texts, whether they are in memory or not. */
const sizeOf = (ops: StoredOp[]) =>
  blobTexts(ops).reduce((sum, text) => sum + text.bytes, Buffer.byteLength(JSON.stringify(ops)));
