/** The schedule of a swarm's members: examples, and random histories compared with a stateless model of the rules. */
import { describe, expect, it } from 'vitest';
import {
  createSchedule,
  FIRST_LAUNCHES,
  FIRST_RETRY_MS,
  LAUNCH_INTERVAL_MS,
  RECOVERY_MS,
  SHRINK_INTERVAL_MS,
  type Schedule,
} from '#server/features/swarm/schedule.ts';

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

/** Returns the launches with their times, from `from` until `to`, or until no more members start without an event. */
function drain(schedule: Schedule, from: number, to: number): [at: number, ...members: number[]][] {
  const launches: [number, ...number[]][] = [];
  for (let now: number | undefined = from; now !== undefined && now <= to;) {
    const taken = schedule.take(now);
    if (taken.length > 0) launches.push([now, ...taken]);
    const next = schedule.nextAt();
    if (next !== undefined && next <= now) throw new Error('it has forgotten somebody');
    now = next;
  }
  return launches;
}

describe('without a limit', () => {
  it('five start immediately, the others one every 700 ms', () => {
    expect(drain(createSchedule(8), 1000, 60_000)).toEqual([
      [1000, 0, 1, 2, 3, 4],
      [1700, 5],
      [2400, 6],
      [3100, 7],
    ]);
    expect(drain(createSchedule(3), 0, 60_000)).toEqual([[0, 0, 1, 2]]);
  });

  it('never more than the concurrency run; the next one replaces one that has ended, but not before its interval', () => {
    const schedule = createSchedule(8, 2);
    expect(drain(schedule, 0, 60_000)).toEqual([[0, 0, 1]]);
    schedule.ended(0);
    expect(drain(schedule, 10, 60_000)).toEqual([[10, 2]]);
    schedule.ended(1);
    schedule.ended(2);
    expect(drain(schedule, 20, 60_000)).toEqual([[20, 3, 4]]);
    schedule.ended(3);
    expect(drain(schedule, 100, 60_000)).toEqual([[720, 5]]);
    schedule.ended(4);
    schedule.ended(5);
    expect(drain(schedule, 5000, 60_000)).toEqual([
      [5000, 6],
      [5700, 7],
    ]);
  });
});

describe('after a rate limit', () => {
  /** All members start at 0; the first is limited at 1000. */
  function limitedAt1000(members: number) {
    const schedule = createSchedule(members);
    drain(schedule, 0, 999);
    expect(schedule.limited(0, 1000)).toBe(true);
    return schedule;
  }

  it('the limited one is first, after the retry interval, and the capacity is one less than the number of started ones', () => {
    const schedule = limitedAt1000(12);
    // Six were started, so the capacity is five, which is used by the running ones.
    expect(drain(schedule, 1000, 100_000)).toEqual([]);
    schedule.ended(1);
    schedule.ended(2);
    expect(drain(schedule, 1500, 100_000)).toEqual([
      [4000, 0],
      [4700, 6],
    ]);
  });

  it('limits within one interval decrease the capacity by one, each later one by another, down to one', () => {
    const schedule = limitedAt1000(6);
    for (const [member, at] of [
      [1, 1000],
      [2, 1000 + SHRINK_INTERVAL_MS - 1],
      [3, 1000 + SHRINK_INTERVAL_MS],
      [4, 5000],
      [5, 9000],
    ] as const) {
      expect(schedule.limited(member, at)).toBe(true);
    }
    // The queue is 5, 4, 3, 2: the newest limit first.
    expect(drain(schedule, 9000, 20_000)).toEqual([
      [12_000, 5],
      [12_700, 4],
    ]);
    for (const at of [15_000, 25_000, 45_000]) {
      schedule.limited(5, at);
      expect(drain(schedule, at, at + 1)).toEqual([]);
      schedule.ended(4);
      // The capacity is at least one.
      expect(drain(schedule, at, at + 30_000).map(([, ...members]) => members)).toEqual([[5]]);
    }
  });

  it('the interval doubles for a retry that receives no answer, and is reset by one that does', () => {
    const schedule = limitedAt1000(2);
    const retry = (at: number) => {
      const launches = drain(schedule, at, at + 100_000);
      expect(launches).toHaveLength(1);
      return (launches[0]?.[0] ?? 0) - at;
    };
    schedule.limited(1, 1000);
    expect(retry(1000)).toBe(FIRST_RETRY_MS);
    schedule.limited(1, 5000);
    expect(retry(5000)).toBe(2 * FIRST_RETRY_MS);
    schedule.limited(1, 20_000);
    expect(retry(20_000)).toBe(4 * FIRST_RETRY_MS);
    schedule.answered(1);
    schedule.limited(1, 50_000);
    expect(retry(50_000)).toBe(FIRST_RETRY_MS);
  });

  it('the capacity increases by one after each three minutes without a limit', () => {
    const schedule = limitedAt1000(3);
    schedule.limited(1, 1000);
    schedule.limited(2, 4000);
    // The capacity is one; the others wait.
    expect(drain(schedule, 4000, 10_000)).toEqual([[7000, 2]]);
    expect(schedule.nextAt()).toBe(4000 + RECOVERY_MS);
    expect(drain(schedule, 4000 + RECOVERY_MS, 1_000_000)).toEqual([
      [4000 + RECOVERY_MS, 1],
      [4000 + 2 * RECOVERY_MS, 0],
    ]);
  });

  it('the only remaining member is not resumed', () => {
    const schedule = limitedAt1000(2);
    schedule.ended(1);
    drain(schedule, 1000, 60_000);
    expect(schedule.limited(0, 70_000)).toBe(false);
    expect(schedule.nextAt()).toBeUndefined();
    const alone = createSchedule(1);
    expect(alone.take(0)).toEqual([0]);
    expect(alone.limited(0, 0)).toBe(false);
  });
});

/** A reproducible source of numbers in [0, 1). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

type Happened =
  | { what: 'began' | 'answered' | 'ended'; member: number; at: number }
  | { what: 'limited'; member: number; at: number };

/** A stateless model of the rules: derives the expected state at `now` from the history of events. */
function rules(history: readonly Happened[], members: number, concurrency: number, now: number) {
  const of = (what: Happened['what']) => history.filter((event) => event.what === what);
  const last = (member: number) =>
    history.findLast((event) => event.member === member && event.what !== 'answered')?.what;
  const limits = of('limited');
  const begun = (before: number) =>
    new Set(history.slice(0, before).flatMap((event) => (event.what === 'began' ? [event.member] : []))).size;
  const queue = upTo(members)
    .filter((member) => last(member) === undefined || last(member) === 'limited')
    // The newest limit first, then the members that were never started.
    .toSorted((a, b) => place(b) - place(a) || a - b);
  function place(member: number) {
    return history.findLastIndex((event) => event.member === member && event.what === 'limited');
  }
  let retryMs = FIRST_RETRY_MS;
  const fresh = new Set<number>();
  for (const { what, member } of history) {
    if (what === 'answered') {
      retryMs = FIRST_RETRY_MS;
      fresh.delete(member);
    } else if (what === 'began') {
      if (fresh.has(-1 - member)) fresh.add(member);
    } else if (what === 'limited') {
      if (fresh.delete(member)) retryMs *= 2;
      fresh.add(-1 - member);
    }
  }
  let capacity = Infinity;
  let shrunkAt = -Infinity;
  let quietSince = -Infinity;
  const grow = (until: number) => {
    for (; quietSince + RECOVERY_MS <= until; quietSince += RECOVERY_MS) capacity += 1;
  };
  for (const [index, event] of history.entries()) {
    if (event.what !== 'limited') continue;
    if (capacity === Infinity) {
      capacity = Math.max(1, Math.max(1, begun(index)) - 1);
      shrunkAt = event.at;
    } else {
      grow(event.at);
      if (event.at - shrunkAt >= SHRINK_INTERVAL_MS) {
        capacity = Math.max(1, capacity - 1);
        shrunkAt = event.at;
      }
    }
    quietSince = event.at;
  }
  if (capacity < Infinity) grow(now);
  const lastBegan = of('began').at(-1)?.at ?? -Infinity;
  const lastLimit = limits.at(-1)?.at;
  const paced = lastLimit !== undefined || begun(history.length) >= FIRST_LAUNCHES;
  const ready = Math.max(
    paced ? lastBegan + LAUNCH_INTERVAL_MS : -Infinity,
    lastLimit === undefined ? -Infinity : lastLimit + retryMs,
  );
  const running = upTo(members).filter((member) => last(member) === 'began');
  return {
    next: running.length < Math.min(capacity, concurrency) && ready <= now ? queue[0] : undefined,
    running,
    unfinished: running.length + queue.length,
  };
}

describe('with any sequence of events', () => {
  it.each(upTo(60))('it follows the rules and starts all members (seed %i)', (seed) => {
    const next = random(seed);
    const pick = (count: number) => Math.floor(next() * count);
    const members = 1 + pick(14);
    const concurrency = pick(3) === 0 ? 1 + pick(6) : Infinity;
    const schedule = createSchedule(members, concurrency);
    const history: Happened[] = [];
    const stated = (now: number) => rules(history, members, concurrency, now);
    let now = 0;

    function launch() {
      const taken = schedule.take(now);
      for (const member of taken) {
        expect(stated(now).next).toBe(member);
        history.push({ what: 'began', member, at: now });
      }
      expect(stated(now).next).toBeUndefined();
    }

    for (let moment = 0; stated(now).unfinished > 0; moment += 1) {
      launch();
      const { running } = stated(now);
      const due = schedule.nextAt();
      // A member is running, or one is scheduled.
      expect(running.length > 0 || due !== undefined).toBe(true);
      if (due !== undefined) {
        expect(due).toBeGreaterThan(now);
        expect(stated(due - 1).next).toBeUndefined();
        expect(stated(due).next).toBeDefined();
      }
      const member = running[pick(running.length)];
      if (member === undefined || (due !== undefined && pick(3) > 0)) {
        now = due ?? now;
        continue;
      }
      now = Math.min(now + [0, 30, 900, 2500, 200_000][pick(5)]!, due ?? Infinity);
      // Finally all members end.
      const dice = moment > 150 ? 5 : pick(6);
      if (dice < 2) {
        const alone = stated(now).unfinished === 1;
        expect(schedule.limited(member, now)).toBe(!alone);
        history.push({ what: 'limited', member, at: now });
        if (alone) history.push({ what: 'ended', member, at: now });
      } else if (dice < 4) {
        schedule.answered(member);
        history.push({ what: 'answered', member, at: now });
      } else {
        schedule.ended(member);
        history.push({ what: 'ended', member, at: now });
      }
    }
    expect(schedule.take(now + 10 * RECOVERY_MS)).toEqual([]);
    expect(schedule.nextAt()).toBeUndefined();
  });
});
