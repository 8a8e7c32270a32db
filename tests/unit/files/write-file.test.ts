import { chmod, chown, link, mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { replaceFile } from '#server/files/write-file.ts';
import { temporaryHome } from '#support/temporary-home.ts';

let home: string;
let file: string;
beforeEach(async () => {
  home = await temporaryHome();
  file = join(home, 'file');
});

it('replaces a file by a new one with the same permission bits', async () => {
  await writeFile(file, 'a long old text');
  for (const mode of [0o666, 0o4755, 0o400]) {
    await chmod(file, mode);
    const before = await stat(file);
    await replaceFile(file, `mode ${mode}`);
    const after = await stat(file);
    expect(await readFile(file, 'utf8')).toBe(`mode ${mode}`);
    expect([after.mode, after.ino === before.ino]).toEqual([before.mode, false]);
  }
  expect(await readdir(home)).toEqual(['file']);
});

it('writes a file that has further hard links in place', async () => {
  await writeFile(file, 'a long old text');
  await link(file, join(home, 'other'));
  await replaceFile(file, Buffer.from('new'));
  expect(await readFile(join(home, 'other'), 'utf8')).toBe('new');
  expect((await stat(file)).nlink).toBe(2);
});

it.runIf(process.getuid?.() === 0)('keeps the owner of a file of another user', async () => {
  await writeFile(file, 'a long old text');
  await chown(file, 12_345, 12_346);
  await replaceFile(file, 'new');
  expect(await readFile(file, 'utf8')).toBe('new');
  expect(await stat(file)).toMatchObject({ uid: 12_345, gid: 12_346 });
});

it('creates a missing file and its folders with the permissions that the umask leaves', async () => {
  const path = join(home, 'a/b/file');
  await replaceFile(path, 'new');
  expect(await readFile(path, 'utf8')).toBe('new');
  expect((await stat(path)).mode & 0o777).toBe(0o666 & ~process.umask());
  expect(await readdir(join(home, 'a/b'))).toEqual(['file']);
});

it('changes nothing where the path is a folder', async () => {
  await mkdir(file);
  await expect(replaceFile(file, 'new')).rejects.toThrow(/E[A-Z]+/);
  expect(await readdir(home)).toEqual(['file']);
  expect(await readdir(file)).toEqual([]);
});
