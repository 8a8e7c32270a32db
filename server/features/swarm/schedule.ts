/**
 * The schedule of a swarm's members, with adaptive concurrency: a burst at the start, then one member per interval;
 * after the first rate limit of the provider, the number of concurrent members adapts to it. Pure: the caller reports
 * all events with their times.
 */

/** Number of members that start immediately; the others follow one per `LAUNCH_INTERVAL_MS`. */
export const FIRST_LAUNCHES = 5;
export const LAUNCH_INTERVAL_MS = 700;
/** Pause after a rate limit; doubled each time that a retry is limited as well. */
export const FIRST_RETRY_MS = 3000;
/** Rate limits within this time decrease the capacity only once. */
export const SHRINK_INTERVAL_MS = 2000;
/** After this time without a rate limit, the capacity increases by one. */
export const RECOVERY_MS = 180_000;

export interface Schedule {
  /** Returns the members to start or resume now, in this order, and marks them as running. */
  take(now: number): number[];
  /** Time at which `take` returns more members without another event; undefined if it does not. */
  nextAt(): number | undefined;
  /** The provider rate-limited a running member. Returns whether it is queued to be resumed, before all others. */
  limited(member: number, now: number): boolean;
  /** The provider answers a running member. */
  answered(member: number): void;
  /** The member has ended, or is removed from the queue. */
  ended(member: number): void;
}

interface Limits {
  capacity: number;
  lastAt: number;
  shrunkAt: number;
  /** Time of the last increase of the capacity. */
  grownAt: number;
}

/**
 * Creates the schedule of `members`, numbered from 0, in their order, with at most `concurrency` running at the same
 * time. Times in ms.
 */
export function createSchedule(members: number, concurrency = Infinity): Schedule {
  let waiting = Array.from({ length: members }, (_, member) => member);
  const running = new Set<number>();
  /** Members that were started; and those resumed after a rate limit that received no answer since. */
  const begun = new Set<number>();
  const retrying = new Set<number>();
  let lastLaunchAt = -Infinity;
  let retryMs = FIRST_RETRY_MS;
  let limits: Limits | undefined;

  const room = () => Math.min(concurrency, limits?.capacity ?? Infinity);

  const growsAt = ({ lastAt, grownAt }: Limits) => Math.max(lastAt, grownAt) + RECOVERY_MS;

  function grow(now: number): void {
    if (!limits) return;
    for (let at = growsAt(limits); at <= now; at = growsAt(limits)) {
      limits = { ...limits, capacity: limits.capacity + 1, grownAt: at };
    }
  }

  /** Earliest time of the next start, if there is capacity. */
  function launchAt(): number {
    if (limits) return Math.max(lastLaunchAt + LAUNCH_INTERVAL_MS, limits.lastAt + retryMs);
    return begun.size < FIRST_LAUNCHES ? -Infinity : lastLaunchAt + LAUNCH_INTERVAL_MS;
  }

  function shrunk(now: number): Limits {
    if (!limits) return { capacity: Math.max(1, begun.size - 1), lastAt: now, shrunkAt: now, grownAt: now };
    if (now - limits.shrunkAt < SHRINK_INTERVAL_MS) return { ...limits, lastAt: now };
    return { ...limits, capacity: Math.max(1, limits.capacity - 1), lastAt: now, shrunkAt: now };
  }

  return {
    take(now) {
      grow(now);
      const taken: number[] = [];
      for (let [next] = waiting; next !== undefined; [next] = waiting) {
        if (running.size >= room() || launchAt() > now) break;
        waiting = waiting.slice(1);
        if (begun.has(next)) retrying.add(next);
        begun.add(next);
        running.add(next);
        lastLaunchAt = now;
        taken.push(next);
      }
      return taken;
    },
    nextAt() {
      if (waiting.length === 0) return undefined;
      if (running.size < room()) return launchAt();
      return limits && limits.capacity < concurrency ? Math.max(growsAt(limits), launchAt()) : undefined;
    },
    limited(member, now) {
      running.delete(member);
      grow(now);
      limits = shrunk(now);
      if (retrying.delete(member)) retryMs *= 2;
      if (running.size + waiting.length === 0) return false;
      waiting.unshift(member);
      return true;
    },
    answered(member) {
      if (!running.has(member)) return;
      retrying.delete(member);
      retryMs = FIRST_RETRY_MS;
    },
    ended(member) {
      running.delete(member);
      retrying.delete(member);
      waiting = waiting.filter((one) => one !== member);
    },
  };
}
