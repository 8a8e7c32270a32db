/**
 * The system's own watches. Linux watches one directory at a time; the others watch a whole tree. The queue of the
 * system is finite, and Node does not tell when it ran over: so many events in one turn of the loop that it may have
 * count as a loss, and who watches looks at everything again.
 */
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** Of Linux, unless it says otherwise. */
const QUEUED_EVENTS = 16_384;

export interface SystemWatch {
  close(): void;
}

export interface SystemWatcher {
  /**
   * `told` gets a path relative to `path`; undefined when the system named none. `renamed` is false when only the
   * content or the facts of an entry changed. Throws what the system refuses.
   */
  watch(path: string, told: (name: string | undefined, renamed: boolean) => void, subtree: boolean): SystemWatch;
  /** Calls back after events may have been lost, until the returned function is called. */
  onLoss(callback: () => void): () => void;
}

async function queueLimit(): Promise<number> {
  const text = await readFile('/proc/sys/fs/inotify/max_queued_events', 'utf8').catch(() => '');
  return Number.parseInt(text, 10) || QUEUED_EVENTS;
}

/** Creates it, watching nothing. `lossAt`: events in one turn from which on some may be lost. */
export function createSystemWatcher(lossAt?: number): SystemWatcher {
  const losses = new Set<() => void>();
  let limit = lossAt ?? QUEUED_EVENTS / 2;
  let asked = lossAt !== undefined;
  let inTurn = 0;

  function turnOver(): void {
    const lost = inTurn >= limit;
    inTurn = 0;
    if (lost) for (const callback of losses) callback();
  }

  return {
    watch(path, told, subtree) {
      if (!asked) {
        asked = true;
        void queueLimit().then((events) => (limit = events / 2));
      }
      const watcher = watch(path, { persistent: false, recursive: subtree }, (event, name) => {
        // All that waits in the system's queue is told in one turn.
        if (inTurn++ === 0) setImmediate(turnOver);
        told(name ?? undefined, event === 'rename');
      });
      // A directory that goes away may be told as an error; its parent tells of it, too.
      watcher.on('error', () => told(undefined, true));
      return watcher;
    },
    onLoss(callback) {
      losses.add(callback);
      return () => void losses.delete(callback);
    },
  };
}
