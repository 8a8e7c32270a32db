/** The search index of a home, as a file. */
import { accessSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { searchSchema } from '#server/search/tables.ts';

export const searchFile = (home: string): string => join(home, 'cache', `search-v${searchSchema.version}.db`);

/** Removes it with its companion files. */
export async function removeSearchFile(home: string): Promise<void> {
  for (const suffix of ['', '-wal', '-shm']) await rm(searchFile(home) + suffix, { force: true });
}

/** The findings of SQLite in the whole file; `['ok']` if it is intact. */
export function integrityOf(home: string): unknown[] {
  // Opening would create it.
  accessSync(searchFile(home));
  const database = new Database(searchFile(home));
  try {
    database.pragma('busy_timeout = 60000');
    return database.prepare('PRAGMA integrity_check').pluck().all();
  } finally {
    database.close();
  }
}
