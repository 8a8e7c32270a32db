/** Checks that the system grants file locks before SQLite needs one. */
import type Database from 'libsql';
import { errorCode } from '#server/errors/errno.ts';

/** How long SQLite retries a refused lock before it reports an error. */
const RETRY_MS = 50;

/** Error codes of refused and failed locks. */
const FAILURES = new Set(['SQLITE_BUSY', 'SQLITE_IOERR_LOCK', 'SQLITE_IOERR_RDLOCK']);

/** The system did not grant a file lock. */
export class FileLockError extends Error {}

export interface FileLocks {
  /**
   * Throws `FileLockError` if the system grants no shared lock, after at most 50 ms; takes microseconds where locks
   * work. Other failures are ignored, because the protected database reports them too.
   */
  check(): void;
  close(): void;
}

/**
 * An empty database without a write-ahead log, used only for locking. A database with such a log sleeps for up to 10 s
 * in each statement where locks fail, on its caller's thread and regardless of its timeout, as on a network file system
 * without its lock service. Shared locks do not exclude each other, so several processes may check one file.
 */
export function openFileLocks(Sqlite: typeof Database, path: string): FileLocks {
  const database = new Sqlite(path);
  database.pragma(`busy_timeout = ${RETRY_MS}`);
  let statement: Database.Statement | undefined;
  return {
    check() {
      try {
        statement ??= database.prepare('SELECT 1 FROM sqlite_schema');
        statement.get();
      } catch (error) {
        const code = errorCode(error) ?? '';
        if (FAILURES.has(code)) throw new FileLockError(`file locks fail (${code})`, { cause: error });
      }
    },
    close: () => void database.close(),
  };
}
