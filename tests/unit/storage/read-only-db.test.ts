import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import Database from 'libsql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isUnwritable, openReadOnly } from '#server/storage/read-only-db.ts';
import { temporaryHome } from '#support/temporary-home.ts';

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/** A database of version 2 with one row. */
async function makeDatabase(name = 'a.db'): Promise<string> {
  const path = join(await temporaryHome(), name);
  const database = new Database(path);
  onTestFinished(() => void database.close());
  database.exec('PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1); PRAGMA user_version = 2');
  database.pragma('wal_checkpoint(TRUNCATE)');
  return path;
}

describe('a database that is opened for reading', () => {
  it('has its rows, and refuses writes as unwritable', async () => {
    const database = openReadOnly(Database, await makeDatabase('with #, ? and %41.db'), 2);
    expect(database?.prepare('SELECT x FROM t').all()).toEqual([{ x: 1 }]);
    expect(thrownBy(() => database?.exec('INSERT INTO t VALUES (2)'))).toSatisfy(isUnwritable);
    expect(thrownBy(() => database?.transaction(() => undefined).immediate())).toSatisfy(isUnwritable);
    database?.close();
  });

  it('is none of another version, and none where there is no file', async () => {
    const path = await makeDatabase();
    expect(openReadOnly(Database, path, 3)).toBeUndefined();
    const folder = join(path, '..', 'folder');
    await mkdir(folder);
    expect(openReadOnly(Database, folder, 2)).toBeUndefined();
  });
});

describe('an error', () => {
  it.each([
    ['EROFS'],
    ['EACCES'],
    ['SQLITE_READONLY'],
    ['SQLITE_CANTOPEN'],
    // The folder cannot be written.
    ['UNKNOWN_SQLITE_ERROR_1544'],
  ])('with the code %s is of a home that cannot be written', (code) => {
    expect(isUnwritable(Object.assign(new Error('refused'), { code }))).toBe(true);
  });

  it.each(['SQLITE_BUSY', 'SQLITE_CORRUPT', 'UNKNOWN_SQLITE_ERROR_1555', 'ENOSPC'])(
    'with the code %s is not',
    (code) => {
      expect(isUnwritable(Object.assign(new Error('refused'), { code }))).toBe(false);
    },
  );

  it('of a file that cannot be opened is, also without a code', async () => {
    const path = join(await temporaryHome(), 'missing', 'a.db');
    expect(thrownBy(() => new Database(path))).toSatisfy(isUnwritable);
  });
});
