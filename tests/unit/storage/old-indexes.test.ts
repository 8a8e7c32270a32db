import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { removeOldIndexes } from '#server/storage/old-indexes.ts';
import { temporaryHome } from '#support/temporary-home.ts';

async function homeWith(names: string[]): Promise<string> {
  const home = await temporaryHome();
  await mkdir(join(home, 'cache'));
  for (const name of names) await writeFile(join(home, 'cache', name), '');
  return home;
}
const left = async (home: string) => (await readdir(join(home, 'cache'))).sort();

it('removes older indexes with SQLite’s companion files, and no others', async () => {
  const kept = ['index-v10.db', 'index-v11.db', 'index-v9.db.bak', 'search-v2.db', 'search-v2.db-wal', 'search-v3.db'];
  const old = ['index-v9.db', 'index-v9.db-shm', 'index-v9.db-wal', 'index-v1.db', 'search-v1.db', 'search-v1.db-wal'];
  const home = await homeWith([...kept, ...old, 'search.lock.1', 'index-locks']);
  await removeOldIndexes({ home, versions: { index: 10, search: 2 }, inUse: async () => false });
  expect(await left(home)).toEqual([...kept, 'search.lock.1', 'index-locks'].sort());
});

it('retains them while a server of another version may use them', async () => {
  const home = await homeWith(['index-v1.db', 'index-v2.db']);
  await removeOldIndexes({ home, versions: { index: 2, search: 1 }, inUse: async () => true });
  expect(await left(home)).toEqual(['index-v1.db', 'index-v2.db']);
});

it('does not check for other servers if there is no older index', async () => {
  const inUse = () => Promise.reject(new Error('asked'));
  await removeOldIndexes({ home: await homeWith(['index-v2.db']), versions: { index: 2, search: 1 }, inUse });
  await removeOldIndexes({ home: await temporaryHome(), versions: { index: 2, search: 1 }, inUse });
});

it('ignores indexes that another server removes meanwhile, and reports an unreadable folder', async () => {
  const home = await homeWith(['index-v1.db']);
  const inUse = async () => {
    await rm(join(home, 'cache', 'index-v1.db'));
    return false;
  };
  await removeOldIndexes({ home, versions: { index: 2, search: 1 }, inUse });
  expect(await left(home)).toEqual([]);
  await rm(join(home, 'cache'), { recursive: true });
  await writeFile(join(home, 'cache'), '');
  await expect(removeOldIndexes({ home, versions: { index: 2, search: 1 }, inUse })).rejects.toThrow('ENOTDIR');
});
