/** Waits for what must come. Only a failure takes all the time there is, so that a busy machine makes none. */
import { setTimeout as delay } from 'node:timers/promises';

/** Mutation tests wait less: most of their failures are events that never come. */
export const PATIENCE_MS = Number(process.env.SERVICE_CODE_TEST_PATIENCE_MS ?? 60_000);
/** Looks follow each other closely at first, for most of what comes comes at once. */
const MAX_INTERVAL_MS = 20;

/** Resolves to what `check` returns as soon as it does not throw. */
export async function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS;
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

/** Resolves to what `check` returns as soon as that is truthy; `what` names it if it does not come. */
export const until = <T>(check: () => T | Promise<T>, what = String(check)): Promise<Truthy<T>> =>
  eventually(async () => {
    const found = await check();
    if (!isTruthy(found)) throw new Error(`did not come: ${what}`);
    return found;
  });
