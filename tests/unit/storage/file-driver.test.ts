import { mkdir, readFile, readdir, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileDriver } from '#server/storage/file-driver.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const files = async () => {
  const base = await temporaryHome();
  return { base, driver: fileDriver({ base }) };
};

describe('file driver', () => {
  it('restricts files to their owner', async () => {
    const { base, driver } = await files();
    await driver.setItem?.('credentials:a.json', '{}', {});
    expect((await stat(join(base, 'credentials/a.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(base, 'credentials'))).mode & 0o777).toBe(0o700);
  });

  it('never exposes a partially written value', async () => {
    const { base, driver } = await files();
    const values = ['a'.repeat(300_000), 'b'.repeat(300_000)];
    await driver.setItem?.('k', values[0] ?? '', {});
    const seen = new Set<unknown>();
    const write = async () => {
      for (let round = 0; round < 20; round++) await driver.setItem?.('k', values[round % 2] ?? '', {});
    };
    const read = async () => {
      for (let round = 0; round < 100; round++) seen.add(await driver.getItem('k'));
    };
    await Promise.all([write(), read()]);
    expect([...seen].filter((value) => !values.some((whole) => whole === value))).toEqual([]);
    expect(seen.size).toBeGreaterThan(0);
    expect(await readdir(base)).toEqual(['k']);
  });

  it('rejects with errors of the file system, and leaves no file', async () => {
    const { base, driver } = await files();
    await driver.setItem?.('a', '1', {});
    await expect(driver.setItem?.('a:b', '2', {})).rejects.toThrow('EEXIST');
    await mkdir(join(base, 'd'));
    await expect(driver.setItem?.('d', '2', {})).rejects.toThrow('EISDIR');
    await expect(driver.setItem?.('x'.repeat(300), '2', {})).rejects.toThrow('ENAMETOOLONG');
    expect((await readdir(base)).sort()).toEqual(['a', 'd']);
    expect(await driver.getItem('a:b')).toBeNull();
    expect(await driver.hasItem('a:b', {})).toBe(false);
  });

  it('does not treat an error of the file system as a missing document', async () => {
    const { driver } = await files();
    const key = 'x'.repeat(300);
    await expect(driver.getItem(key)).rejects.toThrow('ENAMETOOLONG');
    await expect(driver.hasItem(key, {})).rejects.toThrow('ENAMETOOLONG');
    await expect(driver.getMeta?.(key, {})).rejects.toThrow('ENAMETOOLONG');
    await expect(driver.removeItem?.(key, {})).rejects.toThrow('ENAMETOOLONG');
    await expect(driver.getKeys(key, {})).rejects.toThrow('ENAMETOOLONG');
  });

  it('lists only the keys below a prefix', async () => {
    const { driver } = await files();
    for (const key of ['a', 'dir:b', 'dir:deep:c']) await driver.setItem?.(key, '1', {});
    expect((await driver.getKeys('dir:', {})).sort()).toEqual(['dir:b', 'dir:deep:c']);
    expect((await driver.getKeys('', {})).sort()).toEqual(['a', 'dir:b', 'dir:deep:c']);
  });

  it('refuses to leave its base', async () => {
    const { driver } = await files();
    for (const key of ['..', 'a:..:b', 'a::b', '', '.']) {
      await expect(driver.setItem?.(key, '1', {})).rejects.toThrow('segment');
      await expect(driver.getItem(key)).rejects.toThrow('segment');
    }
    await driver.setItem?.('../../x', '1', {});
    expect(await driver.getKeys('', {})).toEqual(['../../x']);
  });

  it('lists neither temporary files nor files that it did not create', async () => {
    const { base, driver } = await files();
    await driver.setItem?.('a', '1', {});
    for (const name of ['a.tmp-123-abcd', '100%', 'with space']) await writeFile(join(base, name), '');
    await symlink('a', join(base, 'link'));
    expect(await driver.getKeys('', {})).toEqual(['a']);
    expect(await readFile(join(base, 'a'), 'utf8')).toBe('1');
  });

  it('has a new version after every write', async () => {
    const { base, driver } = await files();
    expect(await driver.getMeta?.('k', {})).toBeNull();
    const seen = new Set<unknown>();
    for (const value of ['1', '2', '3']) {
      await driver.setItem?.('k', value, {});
      seen.add((await driver.getMeta?.('k', {}))?.version);
    }
    await writeFile(join(base, 'k'), 'by hand');
    seen.add((await driver.getMeta?.('k', {}))?.version);
    await writeFile(join(base, 'k'), 'again!!');
    await utimes(join(base, 'k'), 0, 0);
    seen.add((await driver.getMeta?.('k', {}))?.version);
    expect(seen.size).toBe(5);
  });
});
