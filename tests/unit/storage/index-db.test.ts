import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '#server/logging/log.ts';
import { createDerivedDb } from '#server/storage/derived-db.ts';
import { createIndexDb, libsqlFile } from '#server/storage/index-db.ts';
import { eventually } from '#support/patience.ts';
import { checkedBytes, readersBytes, takeLocks } from '#support/taken-locks.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const log = createLogger('silent');
const schema = { version: 3, sql: 'CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)' };
const fileOf = (home: string) => join(home, 'cache/index-v3.db');

function openDb(home: string, into = log) {
  const db = createIndexDb({ home, schema, log: into });
  onTestFinished(() => db.close());
  return db;
}
const put = `INSERT INTO facts VALUES (@name, 'v')`;
const names = (db: ReturnType<typeof openDb>) => db.run(({ all }) => all('SELECT name FROM facts ORDER BY name'));

describe('index database', () => {
  it('is created on first use, with access for its owner only', async () => {
    const home = await temporaryHome();
    const db = openDb(home);
    await expect(stat(fileOf(home))).rejects.toThrow('ENOENT');
    expect(db.filled()).toBe(false);
    const { size, mode } = await stat(fileOf(home));
    expect(size).toBeGreaterThan(0);
    for (const file of [mode, (await stat(`${fileOf(home)}-wal`)).mode]) expect(file & 0o777).toBe(0o600);
    expect((await stat(join(home, 'cache'))).mode & 0o777).toBe(0o700);
  });

  it('retains rows over a restart and shows them to other connections immediately', async () => {
    const home = await temporaryHome();
    const db = openDb(home);
    const other = openDb(home);
    db.markFilled();
    expect(other.filled()).toBe(true);
    db.close();
    expect(() => db.filled()).toThrow('closed');
    expect(openDb(home).filled()).toBe(true);
  });

  it('is created again when it is not a database', async () => {
    const home = await temporaryHome();
    await mkdir(join(home, 'cache'));
    await writeFile(fileOf(home), 'garbage '.repeat(1_000));
    const logged: unknown[] = [];
    const db = openDb(
      home,
      createLogger('warn', (_line, fields) => logged.push(fields)),
    );
    expect(db.filled()).toBe(false);
    db.markFilled();
    expect(db.filled()).toBe(true);
    expect(logged).toEqual([{ path: fileOf(home), err: expect.objectContaining({ code: 'SQLITE_NOTADB' }) }]);
  });

  it('can be written again after another process wrote for too long', async () => {
    const home = await temporaryHome();
    const db = openDb(home);
    const other = openDb(home);
    db.filled();
    other.run(({ transaction, run }) =>
      transaction(() => {
        run(put, { name: 'a' });
        expect(() => db.run(({ run: write }) => write(put, { name: 'b' }))).toThrow('locked');
      }),
    );
    db.run(({ transaction, run }) => transaction(() => void run(`DELETE FROM facts WHERE name = 'a'`)));
    expect(names(db)).toEqual([]);
  });

  it('does not depend on the content of the file whose locks are checked', async () => {
    const home = await temporaryHome();
    await mkdir(join(home, 'cache'));
    await writeFile(join(home, 'cache/index-locks'), 'garbage '.repeat(1_000));
    expect(openDb(home).filled()).toBe(false);
  });

  it('is created again when damage is detected while it is open, and notifies its listeners', async () => {
    const home = await temporaryHome();
    const db = openDb(home);
    let remade = 0;
    db.onRemade(() => (remade += 1));
    db.markFilled();
    db.run(({ all }) => all('PRAGMA wal_checkpoint(TRUNCATE)'));
    const { size } = await stat(fileOf(home));
    await writeFile(fileOf(home), Buffer.alloc(size, 7));
    db.run(({ all }) => all('PRAGMA shrink_memory'));
    expect(db.filled()).toBe(false);
    expect(remade).toBe(1);
    db.markFilled();
    expect(openDb(home).filled()).toBe(true);
  });

  it('has a file for each version of its tables, so that another version’s is preserved', async () => {
    const home = await temporaryHome();
    const first = openDb(home);
    first.markFilled();
    const next = createIndexDb({ home, schema: { ...schema, version: 4 }, log });
    onTestFinished(() => next.close());
    expect(next.filled()).toBe(false);
    expect(first.filled()).toBe(true);
    expect((await readdir(join(home, 'cache'))).filter((name) => name.endsWith('.db'))).toEqual([
      'index-v3.db',
      'index-v4.db',
    ]);
  });

  it('closes a file that was removed from outside', async () => {
    const home = await temporaryHome();
    const db = openDb(home);
    await db.refresh();
    await expect(stat(fileOf(home))).rejects.toThrow('ENOENT');
    db.markFilled();
    const connection = () => db.run((opened) => opened);
    const first = connection();
    await db.refresh();
    expect(connection()).toBe(first);
    expect(db.filled()).toBe(true);
    for (const suffix of ['', '-wal', '-shm']) await rm(fileOf(home) + suffix, { force: true });
    await db.refresh();
    expect(db.filled()).toBe(false);
    expect((await stat(fileOf(home))).isFile()).toBe(true);
  });

  it('can be closed while it detects that the file was removed', async () => {
    const home = await temporaryHome();
    const db = openDb(home);
    db.markFilled();
    await rm(fileOf(home));
    const refreshed = db.refresh();
    db.close();
    await refreshed;
  });

  it('does not treat an unreadable folder as one without the file', async () => {
    const home = await temporaryHome();
    const db = openDb(home);
    db.markFilled();
    await rm(join(home, 'cache'), { recursive: true });
    await writeFile(join(home, 'cache'), '');
    await expect(db.refresh()).rejects.toThrow('ENOTDIR');
  });

  it('runs a transaction atomically', async () => {
    const db = openDb(await temporaryHome());
    const failing = () =>
      db.run((connection) =>
        connection.transaction(() => {
          connection.run(put, { name: 'a' });
          connection.run(put, { name: 'a' });
        }),
      );
    expect(failing).toThrow('UNIQUE');
    expect(names(db)).toEqual([]);
  });

  it.skipIf(process.platform !== 'linux').each(['the first use', 'a later use'])(
    'refuses %s immediately where file locks fail, and works again once they do',
    async (use) => {
      const home = await temporaryHome();
      const logged: unknown[] = [];
      const db = openDb(
        home,
        createLogger('info', (_line, fields) => logged.push(fields)),
      );
      if (use === 'a later use') db.markFilled();
      const release = await takeLocks(checkedBytes(home), readersBytes(fileOf(home)));
      const begun = performance.now();
      for (let n = 0; n < 100; n += 1) expect(() => db.filled()).toThrow('file locks fail (SQLITE_BUSY)');
      expect(performance.now() - begun).toBeLessThan(2000);
      release();
      await eventually(() => expect(db.filled()).toBe(use === 'a later use'));
      // A single time, not with each use.
      const err = expect.objectContaining({ cause: expect.objectContaining({ code: 'SQLITE_BUSY' }) });
      expect(logged).toEqual([{ path: fileOf(home), err }, { path: fileOf(home) }]);
    },
  );

  it.skipIf(process.platform !== 'linux')(
    'is not used while SQLite finds its locking protocol broken, and again once it works',
    async () => {
      const home = await temporaryHome();
      const db = openDb(home);
      db.markFilled();
      const release = await takeLocks(readersBytes(fileOf(home)));
      // SQLite retries for 10 s; later calls fail immediately.
      expect(() => db.filled()).toThrow('locking protocol');
      const begun = performance.now();
      for (let n = 0; n < 100; n += 1) expect(() => db.filled()).toThrow('locking protocol');
      expect(performance.now() - begun).toBeLessThan(1000);
      release();
      await eventually(() => expect(db.filled()).toBe(true));
    },
  );
});

it('a database without background checkpoints cuts its write-ahead log, which a long read let grow, at its next writes', async () => {
  const path = join(await temporaryHome(), 'cache/search.db');
  const open = () => {
    const db = createDerivedDb({ path, name: 'the index', schema, libsql: libsqlFile, log });
    onTestFinished(() => db.close());
    return db;
  };
  const db = open();
  const sizeOfLog = async () => (await stat(`${path}-wal`)).size;
  const write = (prefix: string, rows: number) => {
    for (let row = 0; row < rows; row += 1) db.run(({ run }) => run(put, { name: prefix.padEnd(100_000, `${row} `) }));
  };
  write('a', 1);
  const reader = open();
  reader.run(({ exec, all }) => {
    exec('BEGIN');
    all('SELECT count(*) FROM facts');
  });
  write('b', 100);
  expect(await sizeOfLog()).toBeGreaterThan(8 * 1024 * 1024);
  reader.run(({ exec }) => exec('COMMIT'));
  write('c', 2);
  expect(await sizeOfLog()).toBeLessThanOrEqual(4 * 1024 * 1024);
});
