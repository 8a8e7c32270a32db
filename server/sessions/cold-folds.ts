/**
 * Folds of sessions that are not loaded here, for those who only read. The last few are kept and read on, so that a
 * client that polls costs what is new; readers of one session share its fold, and a load goes on from it.
 */
import { systemClock, type Clock } from '#server/clock.ts';
import { foldJournal, type ColdFold, type FoldedJournal } from '#server/journal/cold-fold.ts';
import type { Slots } from '#server/async/semaphore.ts';

const KEPT_FOLDS = 16;
/** Of journal; a fold takes some times that. */
const KEPT_BYTES = 64 * 1024 * 1024;

export interface ColdFolds {
  /**
   * The session's fold with everything that was in the file when this was called; `internal.error` when the journal is
   * damaged. It is shared and read on later: take from it what is wanted without an await in between.
   */
  read(sessionId: string, dir: string): Promise<ColdFold>;
  /**
   * The session's fold as it was read last, to be changed from here on: nobody reads it on any more. Waits for one that
   * is being read. Undefined where none is kept, or it has records that stand in no line.
   */
  take(sessionId: string): Promise<ColdFold | undefined>;
  /** Whether it is kept, or being made. */
  keeps(sessionId: string): boolean;
  /** How many are kept, and how many bytes of journal they were made from. */
  kept(): { folds: number; bytes: number };
}

export interface ColdFoldsDeps extends Pick<FoldedJournal, 'holder' | 'projections'> {
  slots: Slots;
  maxFolds?: number;
  maxBytes?: number;
  /** How long one that nobody reads is kept; for ever unless given. */
  maxAgeMs?: number;
  clock?: Clock;
}

export function createColdFolds(deps: ColdFoldsDeps): ColdFolds {
  const { slots, maxFolds = KEPT_FOLDS, maxBytes = KEPT_BYTES, maxAgeMs, clock = systemClock, ...journal } = deps;
  /** Longest unused first. */
  const kept = new Map<string, ColdFold>();
  const expiry = new Map<string, () => void>();
  const running = new Map<string, Promise<ColdFold>>();
  const next = new Map<string, Promise<ColdFold>>();

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
    // One that fails half-way is lost, and nobody else may read on what is being read.
    kept.delete(sessionId);
    const fold = await foldJournal({ ...journal, sessionId, dir }, known);
    keep(sessionId, fold);
    return fold;
  }

  function start(sessionId: string, dir: string): Promise<ColdFold> {
    const mine = slots
      .run(() => readNow(sessionId, dir))
      .finally(() => {
        running.delete(sessionId);
      });
    running.set(sessionId, mine);
    return mine;
  }

  return {
    read(sessionId, dir) {
      const shared = next.get(sessionId);
      if (shared) return shared;
      const current = running.get(sessionId);
      if (!current) return start(sessionId, dir);
      // It may have passed by already what this call has to see, so another look follows, for all who come meanwhile.
      const again = () => {
        next.delete(sessionId);
        return start(sessionId, dir);
      };
      const mine = current.then(again, again);
      next.set(sessionId, mine);
      return mine;
    },
    async take(sessionId) {
      const last = await (next.get(sessionId) ?? running.get(sessionId))?.catch(() => undefined);
      // One that is too long to be kept is read on by nobody.
      const fold = kept.get(sessionId) ?? (last && last.length > maxBytes ? last : undefined);
      if (!fold || fold.unsettled) return undefined;
      forget(sessionId);
      return fold;
    },
    keeps: (sessionId) => kept.has(sessionId) || running.has(sessionId),
    kept: () => ({ folds: kept.size, bytes: bytes() }),
  };
}
