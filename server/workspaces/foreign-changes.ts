/**
 * Detects changes of stored values that this process did not write, by comparing each read with the previous one.
 * Writes of this process pass through `own`, so that they are not reported.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#server/clock.ts';

export interface ForeignChanges<T> {
  /** Returns what `read` returns, and compares it. */
  read(key: string, read: () => Promise<T>): Promise<T>;
  /** Runs a write of this process; reads that overlap it are not compared. */
  own<R>(write: () => Promise<R>): Promise<R>;
  /** Makes the next read of each key the first one. */
  forget(): void;
}

/** Keys whose last value is stored. */
const MAX_KEYS = 1000;

export interface ForeignChangesDeps<T> {
  clock: Pick<Clock, 'now'>;
  /** `since` is the time (ms) of the earlier read, after which the value changed. */
  changed(before: T, after: T, since: number): void;
}

/** Creates the detector, without values. */
export function createForeignChanges<T>({ clock, changed }: ForeignChangesDeps<T>): ForeignChanges<T> {
  const seen = new Map<string, { value: T; at: number }>();
  let writing = 0;
  let writes = 0;

  function forget(): void {
    writes += 1;
    seen.clear();
  }

  function compare(key: string, value: T, at: number): void {
    const before = seen.get(key);
    // A later read finished first.
    if (before && before.at > at) return;
    seen.delete(key);
    seen.set(key, { value, at });
    const [oldest] = seen.keys();
    if (seen.size > MAX_KEYS && oldest !== undefined) seen.delete(oldest);
    if (before && !isDeepStrictEqual(before.value, value)) changed(before.value, value, before.at);
  }

  return {
    async read(key, read) {
      const from = writes;
      const at = clock.now();
      const value = await read();
      if (writing === 0 && writes === from) compare(key, value, at);
      return value;
    },
    async own(write) {
      writing += 1;
      try {
        return await write();
      } finally {
        writing -= 1;
        forget();
      }
    },
    forget,
  };
}
