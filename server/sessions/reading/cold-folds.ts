/**
 * Cache of journal folds for readers of sessions that are not loaded in this process. A cached fold is extended
 * incrementally, so polling costs only the new records; concurrent readers of a session share one fold, and loading the
 * session reuses it.
 */
import { systemClock, type Clock } from '#server/clock.ts';
import { foldJournal, type ColdFold, type FoldedJournal } from '#server/journal/cold-fold.ts';
import { createCoalescer } from '#server/async/coalesce.ts';
import type { Semaphore } from '#server/async/semaphore.ts';

const KEPT_FOLDS = 16;
/** Bytes of journal; a fold takes a multiple of that in memory. */
const KEPT_BYTES = 64 * 1024 * 1024;

export interface ColdFolds {
  /**
   * Returns the session's fold with everything that was in the file at the time of the call. Throws `internal.error` if
   * the journal is damaged. The fold is shared, and extended by later reads: a caller reads from it without an await in
   * between.
   */
  read(sessionId: string, dir: string): Promise<ColdFold>;
  /**
   * Removes the session's fold from the cache and transfers it to the caller, who may change it. Waits for a read in
   * progress. Undefined if no fold is cached, or the fold has unsettled records that are not in the file.
   */
  take(sessionId: string): Promise<ColdFold | undefined>;
  /** Whether the session's fold is cached or being read. */
  keeps(sessionId: string): boolean;
  /** How many folds are cached, and how many bytes of journal they were read from. */
  kept(): { folds: number; bytes: number };
}

export interface ColdFoldsDeps extends Pick<FoldedJournal, 'holder' | 'projections'> {
  slots: Semaphore;
  maxFolds?: number;
  maxBytes?: number;
  /** How long an unused fold stays cached (ms); default: without limit. */
  maxAgeMs?: number;
  clock?: Clock;
}

export function createColdFolds(deps: ColdFoldsDeps): ColdFolds {
  const { slots, maxFolds = KEPT_FOLDS, maxBytes = KEPT_BYTES, maxAgeMs, clock = systemClock, ...journal } = deps;
  /** Least recently used first. */
  const kept = new Map<string, ColdFold>();
  const expiry = new Map<string, () => void>();
  /** By session. A call during a read needs the next one, which sees everything that was in the file at the call. */
  const reads = createCoalescer<ColdFold>();

  const bytes = () => [...kept.values()].reduce((sum, fold) => sum + fold.length, 0);

  function keep(sessionId: string, fold: ColdFold): void {
    if (fold.length > maxBytes) return;
    kept.set(sessionId, fold);
    if (maxAgeMs !== undefined) expire(sessionId, maxAgeMs);
    for (const oldest of kept.keys()) {
      if (kept.size <= maxFolds && bytes() <= maxBytes) return;
      kept.delete(oldest);
    }
  }

  function expire(sessionId: string, ms: number): void {
    expiry.get(sessionId)?.();
    const cancel = clock.setTimeout(() => {
      expiry.delete(sessionId);
      kept.delete(sessionId);
    }, ms);
    expiry.set(sessionId, cancel);
  }

  function forget(sessionId: string): void {
    kept.delete(sessionId);
    expiry.get(sessionId)?.();
    expiry.delete(sessionId);
  }

  async function readNow(sessionId: string, dir: string): Promise<ColdFold> {
    const known = kept.get(sessionId);
    // A fold whose extension fails half-way is inconsistent, and no other read may extend it meanwhile.
    kept.delete(sessionId);
    const fold = await foldJournal({ ...journal, sessionId, dir }, known);
    keep(sessionId, fold);
    return fold;
  }

  return {
    read: (sessionId, dir) => reads.run(sessionId, () => slots.run(() => readNow(sessionId, dir))),
    async take(sessionId) {
      const last = await reads.latest(sessionId)?.catch(() => undefined);
      // A fold that is too long for the cache has no other user.
      const fold = kept.get(sessionId) ?? (last && last.length > maxBytes ? last : undefined);
      if (!fold || fold.unsettled) return undefined;
      forget(sessionId);
      return fold;
    },
    keeps: (sessionId) => kept.has(sessionId) || reads.latest(sessionId) !== undefined,
    kept: () => ({ folds: kept.size, bytes: bytes() }),
  };
}
