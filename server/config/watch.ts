import { watch } from 'node:fs';
import type { Logger } from '#server/logging/log.ts';

/** Quiet time after the last sign of a change, milliseconds. */
export const SETTLE_MS = 150;

/**
 * Calls `changed`, debounced by 150 ms, after a file of the directory was changed or replaced. If the directory cannot
 * be watched, that is logged and `changed` is never called.
 */
export function watchFile(directory: string, name: string, changed: () => void, log: Logger): { close(): void } {
  let timer: NodeJS.Timeout | undefined;
  const failed = (error: unknown) => log.warn('the home directory cannot be watched', { err: error });
  try {
    // Watches the directory, because a replaced file has another inode.
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
