/** Shared suite for all drivers of documents. */
import { createStorage, type Driver } from 'unstorage';
import memory from 'unstorage/drivers/memory';
import { describe, expect, it } from 'vitest';
import { fileDriver } from '#server/storage/file-driver.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const drivers: { name: string; make: () => Promise<Driver> }[] = [
  { name: 'files', make: async () => fileDriver({ base: await temporaryHome() }) },
  { name: 'memory', make: async () => memory() },
];

describe.each(drivers)('$name', ({ make }) => {
  const storageOf = async () => createStorage({ driver: await make() });

  it('returns what was stored, and null for a missing key', async () => {
    const storage = await storageOf();
    await storage.setItem('a:b.json', { one: [1, 'ü\u0000'] });
    expect(await storage.getItem('a:b.json')).toEqual({ one: [1, 'ü\u0000'] });
    expect(await storage.hasItem('a:b.json')).toBe(true);
    expect(await storage.getItem('a:c.json')).toBeNull();
    expect(await storage.hasItem('a')).toBe(false);
    expect(await storage.getItem('a')).toBeNull();
  });

  it('keeps the last of several values', async () => {
    const storage = await storageOf();
    await storage.setItem('k', 'a longer first value');
    await storage.setItem('k', 'short');
    expect(await storage.getItem('k')).toBe('short');
  });

  it('lists keys, also below a base', async () => {
    const storage = await storageOf();
    for (const key of ['x.json', 'dir:y', 'dir:deep:z']) await storage.setItem(key, '1');
    expect((await storage.getKeys()).sort()).toEqual(['dir:deep:z', 'dir:y', 'x.json']);
    expect((await storage.getKeys('dir')).sort()).toEqual(['dir:deep:z', 'dir:y']);
    expect(await storage.getKeys('nowhere')).toEqual([]);
  });

  it('removes one key', async () => {
    const storage = await storageOf();
    for (const key of ['a', 'dir:b', 'dir:c']) await storage.setItem(key, '1');
    await storage.removeItem('a');
    await storage.removeItem('never there');
    expect((await storage.getKeys()).sort()).toEqual(['dir:b', 'dir:c']);
  });

  it('returns texts byte for byte', async () => {
    const storage = await storageOf();
    for (const text of ['12', ' {"a": 1}\n', 'null', 'ü\r\n']) {
      await storage.setItem('t', text);
      expect(await storage.getItemRaw('t')).toBe(text);
    }
    expect(await storage.getItemRaw('never there')).toBeNull();
  });

  it('accepts concurrent writes of several keys', async () => {
    const storage = await storageOf();
    const keys = Array.from({ length: 20 }, (_, n) => `dir:${n % 4}:${n}`);
    await Promise.all(keys.map((key) => storage.setItem(key, key)));
    expect(await Promise.all(keys.map((key) => storage.getItem(key)))).toEqual(keys);
    expect((await storage.getKeys('dir')).sort()).toEqual([...keys].sort());
  });

  it('accepts any text for a key segment', async () => {
    const storage = await storageOf();
    const keys = ['a b', 'ü*', '100%', 'x%2Fy', '~', "it's", 'x.tmp-1-ab', '...', '.hidden', 'CON', 'a\u0000b'];
    for (const key of keys) await storage.setItem(key, `value of ${key}`);
    for (const key of keys) expect(await storage.getItem(key)).toBe(`value of ${key}`);
    expect((await storage.getKeys()).sort()).toEqual([...keys].sort());
  });

  it('rejects a key that leaves the base', async () => {
    const storage = await storageOf();
    for (const key of ['..:x', 'a:..:..:b', '../x'])
      await expect(storage.setItem(key, '1')).rejects.toThrow('Invalid key');
  });
});
