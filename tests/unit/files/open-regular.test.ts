import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { open, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openRegular, readBytes } from '#server/files/open-regular.ts';
import { temporaryHome } from '#support/temporary-home.ts';

it('opens regular files only, and leaves nothing else open', async () => {
  const home = await temporaryHome();
  await writeFile(join(home, 'file'), 'text');
  execFileSync('mkfifo', [join(home, 'pipe')]);
  const file = await openRegular(join(home, 'file'));
  expect(await file?.readFile('utf8')).toBe('text');
  await file?.close();
  const opened = async () => (await readdir('/dev/fd')).length;
  const before = await opened();
  for (let round = 0; round < 50; round++) {
    expect(await openRegular(home)).toBeUndefined();
    expect(await openRegular(join(home, 'pipe'))).toBeUndefined();
  }
  expect(await opened()).toBeLessThan(before + 25);
  await expect(openRegular(join(home, 'none'))).rejects.toThrow('ENOENT');
});

it('adds flags', async () => {
  const path = join(await temporaryHome(), 'file');
  const file = await openRegular(path, constants.O_RDWR | constants.O_CREAT);
  await file?.writeFile('new');
  await file?.close();
  expect(await readFile(path, 'utf8')).toBe('new');
});

it('reads a part of a file, fewer bytes at its end', async () => {
  const path = join(await temporaryHome(), 'file');
  await writeFile(path, '0123456789');
  const file = await open(path);
  const read = async (from: number, length: number) => (await readBytes(file, from, length)).toString();
  expect([await read(2, 3), await read(8, 5), await read(10, 1), await read(0, 0)]).toEqual(['234', '89', '', '']);
  await file.close();
});
