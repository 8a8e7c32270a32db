/** SQLite files in a folder that cannot be written. */
import { pathToFileURL } from 'node:url';
import type Database from 'libsql';
import * as z from 'zod';
import { errorCode } from '#server/errors/errno.ts';

const SQLITE_READONLY = 8;
const SQLITE_CANTOPEN = 14;
const REFUSED = new Set(['EROFS', 'EACCES', 'EPERM']);

/** The primary result code of these failures and of those that the library does not name; else undefined. */
function resultCode(error: unknown): number | undefined {
  const code = errorCode(error);
  if (code?.startsWith('SQLITE_READONLY')) return SQLITE_READONLY;
  if (code?.startsWith('SQLITE_CANTOPEN')) return SQLITE_CANTOPEN;
  const [, unnamed] = /^UNKNOWN_SQLITE_ERROR_(\d+)$/.exec(code ?? '') ?? [];
  // A failure to open has its code only in the message.
  const [, failed] = /^ConnectionFailed\(.*: (\d+)"\)$/s.exec(error instanceof Error ? error.message : '') ?? [];
  const extended = unnamed ?? failed;
  // An extended result code has the primary one in its low byte.
  return extended === undefined ? undefined : Number(extended) & 0xff;
}

/** True for an error of the library. */
export const isSqliteError = (error: unknown): boolean =>
  resultCode(error) !== undefined || errorCode(error)?.startsWith('SQLITE_') === true;

/** True if a file or its folder cannot be written, or a file cannot be opened. */
export function isUnwritable(error: unknown): boolean {
  const code = resultCode(error);
  return code === SQLITE_READONLY || code === SQLITE_CANTOPEN || REFUSED.has(errorCode(error) ?? '');
}

const versionRows = z.tuple([z.object({ user_version: z.number() })]);

/** Opens an existing database of that schema version for reading; undefined if there is none. */
export function openReadOnly(Sqlite: typeof Database, path: string, version: number): Database.Database | undefined {
  // Without its companion files, which cannot be created here, SQLite reads a file only if no process changes it.
  for (const name of [path, `${pathToFileURL(path).href}?immutable=1`]) {
    let database: Database.Database | undefined;
    try {
      database = new Sqlite(name);
      database.pragma('query_only = 1');
      const [{ user_version: present }] = versionRows.parse(database.pragma('user_version'));
      if (present === version) return database;
      database.close();
    } catch (error) {
      database?.close();
      if (!isUnwritable(error)) throw error;
    }
  }
  return undefined;
}
