/** Throttle with a trailing call: at most one value per interval, and always the newest one in the end. */
import type { Clock } from '#server/clock.ts';

export interface LatestAtRate<T> {
  /** Emits the value immediately, or at the end of the running interval unless a newer value replaces it. */
  add(value: T): void;
  /** Drops the waiting value. */
  close(): void;
}

/** Creates a throttle that calls `emit` at most once per `intervalMs`. */
export function createLatestAtRate<T>(clock: Clock, intervalMs: number, emit: (value: T) => void): LatestAtRate<T> {
  let waiting: { value: T } | undefined;
  let cancelTimer: (() => void) | undefined;

  function send(value: T): void {
    waiting = undefined;
    cancelTimer = clock.setTimeout(() => {
      cancelTimer = undefined;
      if (waiting) send(waiting.value);
    }, intervalMs);
    emit(value);
  }

  return {
    add(value) {
      if (cancelTimer) waiting = { value };
      else send(value);
    },
    close() {
      waiting = undefined;
      cancelTimer?.();
      cancelTimer = undefined;
    },
  };
}
