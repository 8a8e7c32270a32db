/** Who follows a log beside its own folds. */
import type { VolatileFields, VolatileType } from '#schema/events/catalogue.ts';
import type { Batch } from './records.ts';

/** An event that is never written. */
export type VolatileFact = { [T in VolatileType]: { type: T; fields: VolatileFields<T> } }[VolatileType];

/** Told as soon as the log's own folds are up to date, before any frame goes out. */
export interface LogListener {
  /** What was folded, whether it stands in a line or not. */
  line(batch: Batch): void;
  volatile(agent: string, fact: VolatileFact): void;
  /** The log folds its file anew, so all that was told is void. */
  restarted(): void;
}

export interface LogListeners {
  /** Adds a listener until the returned function is called. */
  add(listener: LogListener): () => void;
  tell(call: (listener: LogListener) => void): void;
}

/** `failed` gets what a listener throws: a listener's mistake must not stop the journal. */
export function createLogListeners(failed: (error: unknown) => void): LogListeners {
  const listeners = new Set<LogListener>();
  return {
    add(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    tell(call) {
      for (const listener of listeners) {
        try {
          call(listener);
        } catch (error) {
          failed(error);
        }
      }
    },
  };
}
