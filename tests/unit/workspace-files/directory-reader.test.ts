/** The thread's results for a directory and its entries equal those of the system. */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { link, lstat, mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import {
  createDirectoryReader,
  factsOf,
  readDirectory,
  readLevel,
  type DirectoryEntry,
  type WholeDirectory,
} from '#server/workspace-files/directory-reader.ts';
import program from '#server/workspace-files/directory-program.ts?thread';
import { createDirectoryThread } from '#server/workspace-files/directory-thread.ts';
import { IGNORE_FILE_MAX_BYTES, type IgnoreTexts } from '#server/ignore-rules/ignore-texts.ts';
import { byDescriptor } from '#server/files/descriptors.ts';
import { within, type OpenPath } from '#server/files/open-within.ts';
import { relativePath } from '#server/files/work-directory.ts';
import { temporaryHome } from '#support/temporary-home.ts';

async function opened(root: string): Promise<OpenPath> {
  const inside = await within({ root, additionalDirs: () => [] });
  return inside.open(relativePath('.'));
}

const factsFrom = async (path: string) => {
  const { mode, size, mtimeMs, ino } = await lstat(path);
  const link = await readlink(path).catch(() => undefined);
  return { mode, size, mtimeMs, ino, link };
};

/** How many directories below a temporary one this process holds open. */
const descriptors = async () => {
  const all = await readdir('/proc/self/fd');
  const places = await Promise.all(all.map((fd) => readlink(join('/proc/self/fd', fd)).catch(() => '')));
  return places.filter((place) => place.startsWith(tmpdir())).length;
};

async function portionsOf(place: OpenPath, wanted: number): Promise<DirectoryEntry[][]> {
  const portions: DirectoryEntry[][] = [];
  for await (const portion of readDirectory(place, wanted)) portions.push(portion);
  return portions;
}

test('facts of files, directories and links themselves, in the order of the names, also with concurrent requests', async () => {
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

test('a directory of any size, read by several readers concurrently, the first entries with their facts', async () => {
  const root = await temporaryHome();
  await mkdir(join(root, 'folder'));
  await writeFile(join(root, 'file-0'), 'text');
  // Hard links to one file: created in a tenth of the time of as many files.
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

test('a directory whose reading is abandoned, that is empty, or that does not exist', async () => {
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
  // The directory is closed, too.
  expect(await descriptors()).toBe(before);
  await left.close();
});

describe.runIf(byDescriptor)('a level', () => {
  const WANTED = { most: 1024, ignoreFiles: true };

  async function levelOf(files: Record<string, string>) {
    const root = await temporaryHome();
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    const inside = await within({ root, additionalDirs: () => [] });
    const top = await inside.open(relativePath('.'));
    onTestFinished(() => top.close());
    return { root, top };
  }

  const namesOf = (read: readonly (WholeDirectory | undefined)[]) =>
    read.map((directory) => directory?.entries.map(({ name }) => name).toSorted());

  test('is read in one message, with facts and the texts of links', async () => {
    const { root, top } = await levelOf({ 'a/b/c/3': '', 'a/b/2': 'two', 'a/d/4': '' });
    await mkdir(join(root, 'e'));
    await symlink('../e', join(root, 'a/up'));
    const read = await readLevel(top, ['', 'a', 'a/b', 'a/b/c', 'a/d', 'e'], WANTED);
    expect(namesOf(read)).toEqual([['a', 'e'], ['b', 'd', 'up'], ['2', 'c'], ['3'], ['4'], []]);
    const entry = (index: number, name: string) => read[index]?.entries.find((each) => each.name === name);
    expect(entry(1, 'b')).toEqual({ name: 'b', isDirectory: true, facts: await factsFrom(join(root, 'a/b')) });
    expect(entry(1, 'up')).toEqual({ name: 'up', isDirectory: false, facts: await factsFrom(join(root, 'a/up')) });
    expect(entry(1, 'up')?.facts?.link).toBe('../e');
    expect(entry(2, '2')).toEqual({ name: '2', isDirectory: false, facts: await factsFrom(join(root, 'a/b/2')) });
  });

  test('follows no link below its top, and an unreadable directory does not affect the others', async () => {
    const { root, top } = await levelOf({ 'a/b/2': '', 'a/1': '' });
    await symlink('a', join(root, 'link'));
    await symlink('b', join(root, 'a/inner'));
    const paths = ['link', 'a', 'link/b', 'a/inner', 'gone', 'a/1', 'a/b'];
    const read = await readLevel(top, paths, WANTED);
    expect(namesOf(read)).toEqual([undefined, ['1', 'b', 'inner'], undefined, undefined, undefined, undefined, ['2']]);
  });

  test('omits directories with too many entries', async () => {
    const { top } = await levelOf({ 'a/1': '', 'b/1': '', 'b/2': '', 'b/3': '', 'c/1': '', 'c/2': '' });
    expect(namesOf(await readLevel(top, ['a', 'b', 'c'], { ...WANTED, most: 2 }))).toEqual([
      ['1'],
      undefined,
      ['1', '2'],
    ]);
  });

  test('includes the ignore files of a directory, unless one of them is a link or it has a .git', async () => {
    const { root, top } = await levelOf({
      'both/.gitignore': 'one',
      'both/.ignore': 'two',
      'repository/.git/HEAD': '',
      'pointer/.git': 'gitdir: /nowhere',
      'folder/.gitignore/file': '',
      'long/.gitignore': `${'a\n'.repeat(IGNORE_FILE_MAX_BYTES / 2 - 1)}last of many`,
      'none/file': '',
      'linked/file': '',
      'endless/file': '',
      'piped/file': '',
    });
    await symlink('../both/.gitignore', join(root, 'linked/.gitignore'));
    await symlink('/dev/zero', join(root, 'endless/.ignore'));
    execFileSync('mkfifo', [join(root, 'piped/.ignore')]);
    const expected: Record<string, IgnoreTexts | undefined> = {
      both: { gitignore: 'one', ignore: 'two' },
      repository: undefined,
      pointer: undefined,
      folder: {},
      long: { gitignore: 'a\n'.repeat(IGNORE_FILE_MAX_BYTES / 2 - 1) },
      none: {},
      linked: undefined,
      endless: undefined,
      piped: {},
    };
    const paths = Object.keys(expected);
    const read = await readLevel(top, paths, WANTED);
    expect(read.every((directory) => directory !== undefined)).toBe(true);
    expect(Object.fromEntries(paths.map((path, index) => [path, read[index]?.texts]))).toEqual(expected);
    const without = await readLevel(top, ['both'], { ...WANTED, ignoreFiles: false });
    expect(without[0]?.texts).toBeUndefined();
  });

  test('leaves no descriptor open', async () => {
    const { top } = await levelOf({ 'a/b/c/file': '', 'a/d/file': '' });
    const before = await descriptors();
    await readLevel(top, ['a/b/c', 'a/d', 'gone', 'a/b/c/file'], WANTED);
    expect(await descriptors()).toBe(before);
  });
});

describe('a directory that hangs', () => {
  /** Longer than the start of a thread and any reply, even on a busy machine. */
  const TIMEOUT_MS = 1500;

  /** Creates directories by name; those called `hung…` block the thread that opens one until `release`. */
  async function hangingReader() {
    const root = await temporaryHome();
    const pipe = join(root, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const open = async (name: string) => {
      await mkdir(join(root, name), { recursive: true });
      await writeFile(join(root, name, 'file'), '');
      const place = await opened(join(root, name));
      onTestFinished(() => place.close());
      return place;
    };
    const hanging = `{
      const fs = require('node:fs');
      const { opendirSync } = fs;
      fs.opendirSync = (at, options) => {
        if (/hung\\d*$/.test(fs.readlinkSync(at))) fs.closeSync(fs.openSync(${JSON.stringify(pipe)}, 'r'));
        return opendirSync(at, options);
      };
    }
    ${program}`;
    const reader = createDirectoryReader(createDirectoryThread(async () => ({ default: hanging }), TIMEOUT_MS));
    const names = async (place: OpenPath) => {
      const found: string[] = [];
      for await (const portion of reader.readDirectory(place, 0)) found.push(...portion.map(({ name }) => name));
      return found;
    };
    let writer: number | undefined;
    const release = () => void (writer ??= openSync(pipe, constants.O_RDWR));
    onTestFinished(() => {
      release();
      if (writer !== undefined) closeSync(writer);
    });
    return { open, reader, names, release, root };
  }

  const unresponsive = (why: string) => ({ code: 50001, message: `the file system does not answer: ${why}` });

  test('fails only for its request; another thread continues the others from their position', async () => {
    const { open, reader, names, root } = await hangingReader();
    const [hung, small, large] = [await open('hung'), await open('small'), await open('large')];
    await Promise.all(
      Array.from({ length: 4000 }, (_, index) => link(join(root, 'large/file'), join(root, `large/${index}`))),
    );
    const portions = reader.readDirectory(large, 0);
    const first = await portions.next();
    const failing = names(hung);
    const rest = async () => {
      const found: string[] = [];
      for await (const portion of portions) found.push(...portion.map(({ name }) => name));
      return found;
    };
    const [failed, others, left, facts] = await Promise.allSettled([
      failing,
      names(small),
      rest(),
      reader.factsOf(small, ['file', 'gone']),
    ]);
    expect(failed).toMatchObject({ status: 'rejected', reason: unresponsive('1.5 s have passed') });
    expect(others).toMatchObject({ value: ['file'] });
    expect(facts).toMatchObject({ value: [{ size: 0 }, undefined] });
    const read = first.done ? [] : first.value.map(({ name }) => name);
    expect(read).toHaveLength(1024);
    const all = [...read, ...('value' in left ? left.value : [])];
    expect(all.toSorted()).toEqual((await readdir(join(root, 'large'))).toSorted());
  });

  test('is not read again until it answers, nor are its subdirectories', async () => {
    const { open, names, release } = await hangingReader();
    const [hung, inner, other] = [await open('hung'), await open('hung/inner'), await open('hung-not')];
    await expect(names(hung)).rejects.toMatchObject(unresponsive('1.5 s have passed'));
    for (const place of [hung, inner]) {
      await expect(names(place)).rejects.toMatchObject(
        unresponsive('an earlier request still waits for this directory'),
      );
    }
    expect(await names(other)).toEqual(['file']);
    release();
    await expect.poll(() => names(hung).catch(String)).toEqual(expect.arrayContaining(['file', 'inner']));
    expect(await names(inner)).toEqual(['file']);
  });

  test.runIf(byDescriptor)('is identified in the middle of a level', async () => {
    const { open, reader } = await hangingReader();
    const top = await open('.');
    for (const name of ['before', 'hung', 'after']) await open(name);
    const read = (...paths: string[]) => reader.readLevel(top, paths, { most: 10, ignoreFiles: false });
    await expect(read('before', 'hung', 'after')).rejects.toMatchObject(unresponsive('1.5 s have passed'));
    expect(await read('before', 'after')).toMatchObject([
      { entries: [{ name: 'file' }] },
      { entries: [{ name: 'file' }] },
    ]);
    await expect(read('after', 'hung')).rejects.toMatchObject(
      unresponsive('an earlier request still waits for this directory'),
    );
  });

  test('four hanging directories stop all reading until one answers', async () => {
    const { open, names, release } = await hangingReader();
    const places = await Promise.all(['hung1', 'hung2', 'hung3', 'hung4', 'fine'].map(open));
    const results = await Promise.allSettled(places.map(names));
    expect(results.slice(0, 4)).toMatchObject(
      Array.from({ length: 4 }, () => ({ reason: unresponsive('1.5 s have passed') })),
    );
    expect(results[4]).toMatchObject({ reason: unresponsive('4 directories hang') });
    const [fine] = places.slice(-1);
    if (!fine) throw new Error('no place');
    await expect(names(fine)).rejects.toMatchObject(unresponsive('4 directories hang'));
    release();
    await expect.poll(() => names(fine).catch(String)).toEqual(['file']);
  });
});
