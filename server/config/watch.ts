import { watch } from 'node:fs';
import type { Logger } from '#server/logging/log.ts';

/** Quiet time after the last sign of a change, milliseconds. */
export const SETTLE_MS = 150;

/**
 * Calls `changed` once a file of the directory has been left alone for 150 ms after a change, however it was replaced.
 * A directory that cannot be watched is logged; nothing else happens then.
 */
export function watchFile(directory: string, name: string, changed: () => void, log: Logger): { close(): void } {
  let timer: NodeJS.Timeout | undefined;
  const failed = (error: unknown) => log.warn('the home directory cannot be watched', { err: error });
  try {
    // The directory, because a replaced file is another file to the system.
    const watcher = watch(directory, { persistent: false }, (_event, file) => {
      if (file !== null && file !== name) return;
      clearTimeout(timer);
      timer = setTimeout(changed, SETTLE_MS);
      timer.unref();
    });
    watcher.on('error', failed);
    return {
      close() {
        clearTimeout(timer);
        watcher.close();
      },
    };
  } catch (error) {
    failed(error);
    return { close: () => undefined };
  }
}
