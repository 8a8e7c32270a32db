/**
 * The system's file watches. Linux watches one directory at a time; other systems a whole tree. The system's queue is
 * finite, and Node does not report its overflow: events in one turn of the event loop that could fill the queue are
 * treated as a loss, and the consumers scan everything again.
 */
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** Linux's default, if the limit cannot be read. */
const QUEUED_EVENTS = 16_384;

export interface SystemWatch {
  close(): void;
}

export interface SystemWatcher {
  /**
   * Starts a watch. `onChange` receives a path relative to `path`, undefined if the system named none; `renamed` is false
   * when only content or metadata of an entry changed. Throws the system's error.
   */
  watch(path: string, onChange: (name: string | undefined, renamed: boolean) => void, subtree: boolean): SystemWatch;
  /** Calls back after events may have been lost, until the returned function is called. */
  onLoss(callback: () => void): () => void;
}

async function queueLimit(): Promise<number> {
  const text = await readFile('/proc/sys/fs/inotify/max_queued_events', 'utf8').catch(() => '');
  return Number.parseInt(text, 10) || QUEUED_EVENTS;
}

/** Creates a watcher. `lossAt`: number of events in one turn that is treated as a loss; default: half of the queue. */
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
    watch(path, onChange, subtree) {
      if (!asked) {
        asked = true;
        void queueLimit().then((events) => (limit = events / 2));
      }
      const watcher = watch(path, { persistent: false, recursive: subtree }, (event, name) => {
        // Node delivers all events of the system's queue in one turn.
        if (inTurn++ === 0) setImmediate(turnOver);
        onChange(name ?? undefined, event === 'rename');
      });
      // Removing a watched directory may be reported as an error; its parent's watch reports it, too.
      watcher.on('error', () => onChange(undefined, true));
      return watcher;
    },
    onLoss(callback) {
      losses.add(callback);
      return () => void losses.delete(callback);
    },
  };
}
