/** Checking that the system grants file locks before SQLite needs one. */
import type Database from 'libsql';
import { errorCode } from '#server/files/errno.ts';

/** So long SQLite tries again before it reports a lock that it was refused. */
const RETRY_MS = 50;

/** Of a lock that was refused, and of one that failed. */
const FAILURES = new Set(['SQLITE_BUSY', 'SQLITE_IOERR_LOCK', 'SQLITE_IOERR_RDLOCK']);

/** The system granted no lock. */
export class FileLockError extends Error {}

export interface FileLocks {
  /**
   * Throws FileLockError where the system grants no shared lock, after 50 ms at most; where locks work it takes some
   * microseconds. Other failures are ignored: the database that the locks are for has its own.
   */
  check(): void;
  close(): void;
}

/**
 * An empty database without a write-ahead log, whose only use is that it is locked. A database with such a log sleeps for up
 * to 10 s in each statement where locks fail, on the thread of its caller and whatever its timeout is, as on a network file
 * system without its lock service. Shared locks do not exclude each other, so several processes may check the same file.
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
