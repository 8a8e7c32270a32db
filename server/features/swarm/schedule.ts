/**
 * When the members of a swarm begin. A few at once, then one after the other; from the first time that the provider has
 * no room for one, only as many side by side as it seems to bear. Pure: who runs the members tells what happened, and when.
 */

/** So many begin at once, the others one every so many ms. */
export const FIRST_LAUNCHES = 5;
export const LAUNCH_INTERVAL_MS = 700;
/** Nothing begins for so long behind a limit; twice as long each time that a retry gets no answer either. */
export const FIRST_RETRY_MS = 3000;
/** Limits that come together take one from the capacity, not one each. */
export const SHRINK_INTERVAL_MS = 2000;
/** Without a limit for so long, one more may run. */
export const RECOVERY_MS = 180_000;

export interface Schedule {
  /** Members that begin or go on now, in this order; from here on they run. */
  take(now: number): number[];
  /** When `take` gives more though nothing happens until then; undefined when it does not. */
  nextAt(): number | undefined;
  /** The provider had no room for a running member: whether it will go on, in front of all others. */
  limited(member: number, now: number): boolean;
  /** The provider answers a running member. */
  answered(member: number): void;
  /** It runs no more and waits no more. */
  ended(member: number): void;
}

interface Limits {
  capacity: number;
  lastAt: number;
  shrunkAt: number;
  /** When the capacity last grew. */
  grownAt: number;
}

/** The schedule of `members`, by number from 0, in their order; never more than `concurrency` side by side. Times in ms. */
export function createSchedule(members: number, concurrency = Infinity): Schedule {
  let waiting = Array.from({ length: members }, (_, member) => member);
  const running = new Set<number>();
  /** Members that ever began, those that go on behind a limit and were not answered since. */
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

  /** When the next one may begin, if there is room for it. */
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
