/** A job's due times since it last fired, and its next one. */
import { delay, lead, MAX_DELAY_MS } from './jitter.ts';
import type { KnownCronJob } from './projection.ts';
import type { Schedule } from './schedule.ts';

/** Most due times that one fire coalesces. */
export const MAX_COALESCED = 10_000;

export interface Backlog {
  /** Due times counted so far, at most `MAX_COALESCED`. */
  readonly count: number;
  /** The newest counted time, without jitter, in ms. */
  readonly last: number;
  /** The oldest due time, else the next one, in ms; undefined when there is none. */
  readonly dueAt: number | undefined;
  /** Counts times up to `now`, at most `times` of them; returns false if more are left. */
  countOn(now: number, times?: number): boolean;
}

type BacklogJob = Pick<KnownCronJob, 'id' | 'createdAt' | 'recurring' | 'lastFiredAt'>;

/** Starts with an empty count. */
export function createBacklog(job: BacklogJob, schedule: Schedule, jitter: boolean): Backlog {
  let last = job.lastFiredAt ?? job.createdAt;
  let scheduled = schedule.next(last);
  let following: number | undefined;
  let due = dueTime();
  let first: number | undefined;
  let count = 0;

  /** The scheduled time with its jitter. */
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
        // Beyond the limit times are skipped, except those whose jitter may still put them in the future.
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
