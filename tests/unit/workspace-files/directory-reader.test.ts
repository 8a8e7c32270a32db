/** What the thread says of a directory and its entries is what the system says. */
import { link, lstat, mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { factsOf, readDirectory, type DirectoryEntry } from '#server/workspace-files/directory-reader.ts';
import { within, type Place } from '#server/files/open-within.ts';
import { relativePath } from '#server/files/work-directory.ts';
import { temporaryHome } from '#support/temporary-home.ts';

async function opened(root: string): Promise<Place> {
  const inside = await within({ root, additionalDirs: () => [] });
  return inside.open(relativePath('.'));
}

const factsFrom = async (path: string) => {
  const { mode, size, mtimeMs, ino } = await lstat(path);
  return { mode, size, mtimeMs, ino };
};

/** How many directories below a temporary one this process holds open. */
const descriptors = async () => {
  const all = await readdir('/proc/self/fd');
  const places = await Promise.all(all.map((fd) => readlink(join('/proc/self/fd', fd)).catch(() => '')));
  return places.filter((place) => place.startsWith(tmpdir())).length;
};

async function portionsOf(place: Place, wanted: number): Promise<DirectoryEntry[][]> {
  const portions: DirectoryEntry[][] = [];
  for await (const portion of readDirectory(place, wanted)) portions.push(portion);
  return portions;
}

test('of files, directories and links themselves, in the order of the names, whatever is asked beside', async () => {
  const root = await temporaryHome();
  const odd = 'a\nb\u{1F600} "c"';
  await writeFile(join(root, 'file'), 'twelve bytes');
  await writeFile(join(root, odd), '');
  await mkdir(join(root, 'folder'));
  await symlink('/nowhere', join(root, 'link'));
  const place = await opened(root);
  const names = ['link', odd, 'gone', 'folder', 'file'];
  const expected = await Promise.all(
    names.map(async (name) => (name === 'gone' ? undefined : factsFrom(join(root, name)))),
  );
  const [all, none, reversed, fault, last] = await Promise.allSettled([
    factsOf(place, names),
    factsOf(place, []),
    factsOf(place, names.toReversed()),
    factsOf(place, ['x'.repeat(300)]),
    factsOf(place, ['file']),
  ]);
  await place.close();
  expect(all).toEqual({ status: 'fulfilled', value: expected });
  expect(none).toEqual({ status: 'fulfilled', value: [] });
  expect(reversed).toEqual({ status: 'fulfilled', value: expected.toReversed() });
  expect(fault).toMatchObject({ status: 'rejected', reason: { code: 'ENAMETOOLONG' } });
  expect(last).toEqual({ status: 'fulfilled', value: expected.slice(-1) });
});

test('of a directory of any size, read by several at once, the first with their facts', async () => {
  const root = await temporaryHome();
  await mkdir(join(root, 'folder'));
  await writeFile(join(root, 'file-0'), 'text');
  // Names of one file: made in a tenth of the time of as many files.
  await Promise.all(
    Array.from({ length: 2500 }, (_, index) => link(join(root, 'file-0'), join(root, `file-${index + 1}`))),
  );
  const names = (await readdir(root)).toSorted();
  const [all, some, none] = await Promise.all(
    [Infinity, 1500, 0].map(async (wanted) => {
      const place = await opened(root);
      const portions = await portionsOf(place, wanted);
      await place.close();
      return portions;
    }),
  );
  for (const portions of [all, some, none]) {
    expect(portions).toHaveLength(3);
    const entries = portions?.flat() ?? [];
    expect(entries.map(({ name }) => name).toSorted()).toEqual(names);
    expect(entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => name)).toEqual(['folder']);
  }
  const known = (portions = all) => (portions ?? []).flat().map(({ facts }) => facts !== undefined);
  expect(known(all).every(Boolean)).toBe(true);
  expect(known(some)).toEqual(Array.from({ length: names.length }, (_, index) => index < 1500));
  expect(known(none).some(Boolean)).toBe(false);
  const ofFile = await factsFrom(join(root, 'file-0'));
  const file = all?.flat().find(({ name }) => name === 'file-2000');
  expect(file?.facts).toEqual(ofFile);
});

test('of a directory that is left in the middle, is empty, or is none', async () => {
  const root = await temporaryHome();
  await mkdir(join(root, 'empty'));
  await writeFile(join(root, 'file'), '');
  const open = async (path: string) => opened(join(root, path));
  const empty = await open('empty');
  expect(await portionsOf(empty, Infinity)).toEqual([[]]);
  await empty.close();
  const file = await open('file');
  await expect(portionsOf(file, Infinity)).rejects.toMatchObject({ code: 'ENOTDIR' });
  await file.close();
  await writeFile(join(root, 'empty', '0'), '');
  await Promise.all(
    Array.from({ length: 1500 }, (_, index) => link(join(root, 'empty', '0'), join(root, 'empty', `${index + 1}`))),
  );
  const left = await open('empty');
  const before = await descriptors();
  for await (const portion of readDirectory(left, 0)) {
    expect(portion).toHaveLength(1024);
    break;
  }
  // Neither is the directory held open.
  expect(await descriptors()).toBe(before);
  await left.close();
});
