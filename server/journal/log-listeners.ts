/** Listeners of a log: folds in addition to the log's own. */
import type { VolatileFields, VolatileType } from '#schema/events/catalogue.ts';
import type { Batch } from './records.ts';

/** A volatile event, which is never written. */
export type VolatileEvent = { [T in VolatileType]: { type: T; fields: VolatileFields<T> } }[VolatileType];

/** Called after the log's own folds are updated and before any frame is sent. */
export interface LogListener {
  /** Receives each folded record, including those that are not in the file. */
  line(batch: Batch): void;
  volatile(agent: string, event: VolatileEvent): void;
  /** The log folds its file from the start again, so everything received so far is void. */
  restarted(): void;
}

export interface LogListeners {
  /** Adds a listener; the returned function removes it. */
  add(listener: LogListener): () => void;
  tell(call: (listener: LogListener) => void): void;
}

/** `failed` receives exceptions of listeners, which must not stop the journal. */
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
