import type { Logger } from '#server/logging/log.ts';

/**
 * Keeps the process alive when an error escapes every handler: one stray rejection must not end the turns of all
 * sessions. Each one is a bug and is logged as `fatal`.
 */
export function guardAgainstCrashes(log: Logger): void {
  process.on('unhandledRejection', (error) => log.fatal('unhandled rejection', { err: error }));
  process.on('uncaughtException', (error) => log.fatal('uncaught exception', { err: error }));
}
