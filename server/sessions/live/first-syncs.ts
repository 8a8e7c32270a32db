/**
 * Syncs the journals of new sessions to the disk some seconds after their creation, serially: creating a session does
 * not wait for the disk, and a power failure loses at most the last seconds.
 */
import type { Clock } from '#server/clock.ts';
import type { JournalFiles } from '#server/journal/journal-files.ts';
import type { Logger } from '#server/logging/log.ts';

const DELAY_MS = 5_000;

export interface FirstSyncs {
  /** Schedules the sync of a new session's folder. */
  add(dir: string): void;
  /** Syncs the pending folders now. Never rejects. */
  close(): Promise<void>;
}

export interface FirstSyncsDeps {
  files: Pick<JournalFiles, 'sync'>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
}

export function createFirstSyncs({ files, clock, log }: FirstSyncsDeps): FirstSyncs {
  const waiting = new Set<string>();
  let callOff: (() => void) | undefined;
  let running: Promise<void> = Promise.resolve();

  async function syncWaiting(): Promise<void> {
    callOff = undefined;
    for (const dir of waiting) {
      waiting.delete(dir);
      // The session may have been removed meanwhile.
      await files.sync(dir).catch((err: unknown) => log.warn('a new journal could not be synced', { dir, err }));
    }
  }
  function start(): Promise<void> {
    callOff?.();
    running = running.then(syncWaiting);
    return running;
  }

  return {
    add(dir) {
      waiting.add(dir);
      callOff ??= clock.setTimeout(() => void start(), DELAY_MS);
    },
    close: start,
  };
}
