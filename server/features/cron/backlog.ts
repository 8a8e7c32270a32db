/** How far a job is behind: its times that have come since it fired last, and when the next one comes. */
import { delay, lead, MAX_DELAY_MS } from './jitter.ts';
import type { KnownCronJob } from './projection.ts';
import type { Schedule } from './schedule.ts';

/** Times that one fire stands for at most. */
export const MAX_COALESCED = 10_000;

export interface Backlog {
  /** Times that have come, as far as they are counted. */
  readonly count: number;
  /** The newest of them as the expression says it, in ms. */
  readonly last: number;
  /** When the oldest of them came, else when the next one comes, in ms; undefined when none does. */
  readonly dueAt: number | undefined;
  /** Counts what has come by `now`, so many times at most; false where that was not all. */
  countOn(now: number, times?: number): boolean;
}

type BacklogJob = Pick<KnownCronJob, 'id' | 'createdAt' | 'recurring' | 'lastFiredAt'>;

/** Counts nothing yet. */
export function createBacklog(job: BacklogJob, schedule: Schedule, jitter: boolean): Backlog {
  let last = job.lastFiredAt ?? job.createdAt;
  let scheduled = schedule.next(last);
  let following: number | undefined;
  let due = dueTime();
  let first: number | undefined;
  let count = 0;

  /** When the scheduled time comes. */
  function dueTime(): number | undefined {
    if (scheduled === undefined) return undefined;
    if (!job.recurring) return jitter ? Math.max(job.createdAt, scheduled - lead(job.id, scheduled)) : scheduled;
    following = schedule.next(scheduled);
    return jitter && following !== undefined ? scheduled + delay(job.id, following - scheduled) : scheduled;
  }

  return {
    get count() {
      return count;
    },
    get last() {
      return last;
    },
    get dueAt() {
      return first ?? due;
    },
    countOn(now, times = Infinity) {
      for (let left = times; scheduled !== undefined && due !== undefined && due <= now; left -= 1) {
        if (left === 0) return false;
        first ??= due;
        last = scheduled;
        count = Math.min(count + 1, MAX_COALESCED);
        scheduled = job.recurring ? following : undefined;
        // What is not counted any more need not be gone through; a time of late may still be to come.
        if (count === MAX_COALESCED && last < now - MAX_DELAY_MS) {
          last = now - MAX_DELAY_MS;
          scheduled = schedule.next(last);
        }
        due = dueTime();
      }
      return true;
    },
  };
}
