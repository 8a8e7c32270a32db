import { spawnSync } from 'node:child_process';
import { copyFile, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import Database from 'libsql';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { yieldToLoop } from '#server/async/yield.ts';
import { createLogger } from '#server/logging/log.ts';
import { createIndexDb } from '#server/storage/index-db.ts';
import { until } from '#support/patience.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const schema = { version: 3, sql: 'CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL)' };
const MIB = 1024 * 1024;
const countRows = z.tuple([z.object({ count: z.number() })]);

function openIndex(home: string) {
  const logged: string[] = [];
  const db = createIndexDb({ home, schema, log: createLogger('warn', (line) => logged.push(line)) });
  onTestFinished(() => db.close());
  const path = join(home, 'cache/index-v3.db');
  return {
    db,
    path,
    logged,
    /** Inserts rows of about a page each, each in a transaction of its own. */
    insert(rows: number) {
      for (let row = 0; row < rows; row += 1) {
        db.run(({ run }) => run('INSERT INTO texts (text) VALUES (hex(randomblob(1800)))'));
      }
    },
    count(): number {
      const [{ count }] = countRows.parse(db.run(({ all }) => all('SELECT count(*) AS count FROM texts')));
      return count;
    },
    fileBytes: async () => (await stat(path)).size,
    logBytes: async () => (await stat(`${path}-wal`)).size,
  };
}

/** Counts the rows that the file has without its log. */
async function rowsInFile(path: string): Promise<number> {
  const copy = `${path}.copy`;
  await copyFile(path, copy);
  const database = new Database(copy);
  try {
    const [{ count }] = countRows.parse(database.prepare('SELECT count(*) AS count FROM texts').all());
    return count;
  } finally {
    database.close();
  }
}

it('writers do not wait for the file: rows are copied into it after their transaction, on another connection', async () => {
  const { db, path, insert, fileBytes, logged } = openIndex(await temporaryHome());
  db.run(() => undefined);
  const empty = await fileBytes();
  insert(1_500);
  expect(await fileBytes()).toBe(empty);
  await db.checkpointed();
  expect(await rowsInFile(path)).toBe(1_500);
  expect(logged).toEqual([]);
});

it('writers reuse the log after a checkpoint', async () => {
  const { db, insert, logBytes } = openIndex(await temporaryHome());
  insert(500);
  await db.checkpointed();
  const once = await logBytes();
  for (let round = 0; round < 10; round += 1) {
    insert(500);
    await yieldToLoop();
    await db.checkpointed();
  }
  expect(await logBytes()).toBeLessThan(1.5 * once);
});

it('the log stays bounded while rows are changed without a pause', async () => {
  const { db, insert, count, logBytes } = openIndex(await temporaryHome());
  insert(20_000);
  expect(await logBytes()).toBeLessThan(48 * MIB);
  await db.checkpointed();
  insert(1);
  expect(await logBytes()).toBeLessThan(33 * MIB);
  expect(count()).toBe(20_001);
});

it('two servers of a home see all rows during checkpoints of both', async () => {
  const home = await temporaryHome();
  const [first, second] = [openIndex(home), openIndex(home)];
  for (let round = 1; round <= 20; round += 1) {
    first.insert(130);
    second.insert(130);
    await yieldToLoop();
    expect([first.count(), second.count()]).toEqual([260 * round, 260 * round]);
  }
  await Promise.all([first.db.checkpointed(), second.db.checkpointed()]);
  expect(await rowsInFile(first.path)).toBeGreaterThan(0);
  expect([...first.logged, ...second.logged]).toEqual([]);
});

it('loses no row when the database is closed during a checkpoint', async () => {
  const home = await temporaryHome();
  const { db, insert, logged } = openIndex(home);
  insert(2_000);
  await yieldToLoop();
  db.close();
  const again = openIndex(home);
  expect(again.count()).toBe(2_000);
  again.insert(1);
  await db.checkpointed();
  expect(again.count()).toBe(2_001);
  expect(logged).toEqual([]);
});

it('a checkpoint does not create a file that was removed from outside', async () => {
  const { db, path, insert, logged } = openIndex(await temporaryHome());
  insert(1);
  for (const suffix of ['', '-wal', '-shm']) await rm(path + suffix);
  insert(300);
  await until(() => logged.length > 0);
  expect(logged).toEqual([expect.stringContaining('a checkpoint of the session index failed')]);
  await expect(stat(path)).rejects.toThrow('ENOENT');
  await db.refresh();
  insert(300);
  await db.checkpointed();
  expect(await rowsInFile(path)).toBe(300);
  expect(logged).toHaveLength(1);
});

// Worker threads that exit in a call of the library abort the process.
it('a process can exit during a checkpoint', async () => {
  const path = join(await temporaryHome(), 'index.db');
  const program = `
    const [libsql, promise, path] = process.argv.slice(1);
    const database = new (require(libsql))(path);
    database.pragma('journal_mode = WAL');
    database.pragma('wal_autocheckpoint = 0');
    database.exec('CREATE TABLE IF NOT EXISTS texts (text)');
    const insert = database.prepare('INSERT INTO texts VALUES (hex(randomblob(1800)))');
    database.transaction(() => { for (let row = 0; row < 2000; row += 1) insert.run(); })();
    const other = new (require(promise))(path);
    other.prepare('PRAGMA wal_checkpoint(PASSIVE)').then((statement) => {
      statement.all().then(() => process.exit(1));
      process.exit(0);
    });`;
  const { resolve } = createRequire(import.meta.url);
  for (let round = 0; round < 5; round += 1) {
    const { status, stderr } = spawnSync(
      process.execPath,
      ['-e', program, resolve('libsql'), resolve('libsql/promise'), path],
      { encoding: 'utf8' },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  }
});
