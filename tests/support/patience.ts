/** Polling with a long deadline: only a failing test waits that long, so a busy machine causes no failures. */
import { setTimeout as delay } from 'node:timers/promises';

/** Mutation tests wait less: most of their failures are events that never arrive. */
export const PATIENCE_MS = Number(process.env.SERVICE_CODE_TEST_PATIENCE_MS ?? 60_000);
/** Polling starts with short intervals, because most results are available immediately. */
const MAX_INTERVAL_MS = 20;

/** Polls `check`; resolves to its result as soon as it does not throw. */
export async function eventually<T>(check: () => T | Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (let interval = 1; ; interval = Math.min(2 * interval, MAX_INTERVAL_MS)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await delay(interval);
  }
}

type Truthy<T> = Exclude<T, false | '' | 0 | null | undefined>;
const isTruthy = <T>(value: T): value is Truthy<T> => Boolean(value);

/** Polls `check`; resolves to its first truthy result. `what` names it in the timeout error. */
export const until = <T>(
  check: () => T | Promise<T>,
  what = String(check),
  patienceMs = PATIENCE_MS,
): Promise<Truthy<T>> =>
  eventually(async () => {
    const found = await check();
    if (!isTruthy(found)) throw new Error(`did not come: ${what}`);
    return found;
  }, patienceMs);
