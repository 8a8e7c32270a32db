/** A path to a missing entry is refused outside the work directory, like one to an existing entry. */
import { mkdir, readFile, readdir, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { DESCRIPTORS } from '#server/files/descriptors.ts';
import { parentOf, within, type Within } from '#server/files/open-within.ts';
import type { RelativePath } from '#server/files/work-directory.ts';
import { temporaryHome } from '#support/temporary-home.ts';

let base: string;
let root: string;
let outside: string;
let paths: Within;
beforeEach(async () => {
  base = await temporaryHome();
  [root, outside] = [join(base, 'work'), join(base, 'outside')];
  await mkdir(join(root, 'inside'), { recursive: true });
  await mkdir(outside);
  await writeFile(join(outside, 'secret'), '');
  await writeFile(join(root, 'file'), '');
  await symlink(outside, join(root, 'out'));
  await symlink('inside', join(root, 'in'));
  await symlink('loop', join(root, 'loop'));
  paths = await within({ root, additionalDirs: () => [] });
});

const open = async (path: string) => (await paths.open(path as RelativePath)).close();
const check = (path: string) => paths.check(path as RelativePath);
const escapes = { name: 'fs.path_escapes_session' };

describe('a path through a link that leads outside', () => {
  it.each([
    ['an entry', 'out/secret'],
    ['a missing entry', 'out/none'],
    ['a missing entry of a missing directory', 'out/none/deep/er'],
    ['an entry of a file', 'out/secret/none'],
    ['a name that is too long', `out/${'x'.repeat(300)}`],
    ['a path that is too long', `out/${'x/'.repeat(3000)}x`],
  ])('is refused for %s', async (_, path) => {
    await expect(open(path)).rejects.toMatchObject(escapes);
    await expect(check(path)).rejects.toMatchObject(escapes);
  });
});

describe('a path inside', () => {
  it.each([
    ['a missing entry', 'none/deep', 'ENOENT'],
    ['a missing entry of a link that leads inside', 'in/none', 'ENOENT'],
    ['an entry of a file', 'file/none', 'ENOTDIR'],
    ['an entry of a loop of links', 'loop/none', 'ELOOP'],
  ])('to %s opens nothing and may be used', async (_, path, code) => {
    await expect(open(path)).rejects.toMatchObject({ code });
    await check(path);
  });

  it('that is too long has a specific error', async () => {
    for (const path of ['x'.repeat(300), `inside/${'x/'.repeat(3000)}x`]) {
      await expect(open(path)).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
      await expect(check(path)).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    }
  });
});

describe('roots', () => {
  const withMore = (...additional: string[]) => within({ root, additionalDirs: () => additional });
  const path = (text: string) => text as RelativePath;

  it('links may lead into additional directories, of which some may be missing', async () => {
    const more = await withMore(join(base, 'none'), outside);
    await (await more.open(path('out/secret'))).close();
    const less = await withMore(join(base, 'none'));
    await expect(less.open(path('out/secret'))).rejects.toMatchObject(escapes);
  });

  it('a root that is reached by a link contains its files', async () => {
    await symlink(root, join(base, 'alias'));
    const alias = await within({ root: join(base, 'alias'), additionalDirs: () => [] });
    const place = await alias.open(path('file'));
    expect(place.real).toBe(join(root, 'file'));
    await place.close();
  });

  it('a missing root contains nothing', async () => {
    const missing = await within({ root: join(base, 'none'), additionalDirs: () => [] });
    await expect(missing.open(path('file'))).rejects.toMatchObject({ code: 'ENOENT' });
    await missing.check(path('.'));
  });
});

describe('an opened path', () => {
  it('is used and listed through what was opened, with the path that a client sent in its errors', async () => {
    const place = await paths.open('in' as RelativePath, 'shown');
    expect(place.real).toBe(join(root, 'inside'));
    expect((await place.stat()).isDirectory()).toBe(true);
    await writeFile(join(root, 'inside/entry'), 'text');
    const entry = await paths.openEntry(place, 'entry', 'shown/entry');
    expect(await readFile(entry.at, 'utf8')).toBe('text');
    await symlink(join(outside, 'secret'), join(root, 'inside/leak'));
    await expect(paths.openEntry(place, 'leak', 'shown/leak')).rejects.toThrow('"shown/leak" escapes');
    await expect(paths.open('out/secret' as RelativePath, 'shown')).rejects.toThrow('"shown" escapes');
    await expect(paths.check('out/none' as RelativePath, 'shown')).rejects.toThrow('"shown" escapes');
    await expect(paths.check('out/none' as RelativePath)).rejects.toThrow('"out/none" escapes');
    await place.confirm();
    for (const each of [place, entry]) await each.close();
  });

  it.runIf(process.platform === 'linux')('leaves no descriptor open, however it ends', async () => {
    const opened = async () => (await readdir(DESCRIPTORS)).length;
    const before = await opened();
    for (let round = 0; round < 100; round++) {
      await open('file');
      await check('file');
      await check('none/x');
      for (const path of ['out', 'out/none', 'none']) await open(path).catch(() => undefined);
    }
    expect(await opened()).toBeLessThan(before + 50);
  });
});

describe('where paths cannot be opened as descriptors', () => {
  let elsewhere: typeof within;
  const platform = vi.spyOn(process, 'platform', 'get');
  beforeAll(async () => {
    vi.resetModules();
    platform.mockReturnValue('darwin');
    ({ within: elsewhere } = await import('#server/files/open-within.ts'));
  });
  afterAll(() => {
    platform.mockRestore();
    vi.resetModules();
  });

  it('real paths decide, before and after the use', async () => {
    const inside = await elsewhere({ root, additionalDirs: () => [] });
    await expect(inside.open('out/secret' as RelativePath)).rejects.toMatchObject(escapes);
    const place = await inside.open('in' as RelativePath, 'shown');
    expect(place).toMatchObject({ at: join(root, 'inside'), real: join(root, 'inside') });
    expect((await place.stat()).isDirectory()).toBe(true);
    await place.confirm();
    await symlink(outside, join(root, 'new'));
    await rename(join(root, 'new'), join(root, 'in'));
    await expect(place.confirm()).rejects.toThrow('"shown" escapes');
    await place.close();
  });
});

it('parentOf divides a path into its directory and name', () => {
  expect(parentOf('a/b/c' as RelativePath)).toEqual({ parent: 'a/b', name: 'c' });
  expect(parentOf('a' as RelativePath)).toEqual({ parent: '.', name: 'a' });
  expect(parentOf('.' as RelativePath)).toBeUndefined();
});
