/** The search for Markdown files: what is found, what is skipped, and the limits. */
import { execFileSync } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isUnchanged, readMarkdownFile } from '#server/files/markdown-files.ts';
import { findMarkdownFiles, type FolderLimits, type FolderSearch } from '#server/files/markdown-folders.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { putFile } from '#support/files.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();
const runtime = createLocalRuntime();
const LIMITS: FolderLimits = {
  depth: 3,
  files: 5,
  directories: 6,
  bytesPerFile: 100,
  bytes: 1000,
  linkedDirectories: true,
};

const at = (...names: string[]) => join(folder.path, ...names);
const root = (...names: string[]) => at('root', ...names);

async function find({
  limits,
  within,
  search,
}: { limits?: Partial<FolderLimits>; within?: string; search?: FolderSearch } = {}) {
  const where = { path: root(), ...(within === undefined ? {} : { within }) };
  const { files, ...rest } = await findMarkdownFiles(where, { ...LIMITS, ...limits }, runtime, search);
  return { ...rest, paths: files.map(({ path }) => path.slice(root().length + 1)) };
}

describe('files', () => {
  it('are found in path order: entries of a directory follow each other', async () => {
    for (const name of ['b.md', 'a/c.md', 'a.md', 'a-/d.md', 'a/b/e.md']) await putFile(root(name), '');
    expect(await find()).toEqual({
      exists: true,
      paths: ['a/b/e.md', 'a/c.md', 'a-/d.md', 'a.md', 'b.md'],
      isCut: false,
    });
  });

  it('that are hidden, in node_modules, of another kind or too deep are skipped without a cut', async () => {
    for (const name of ['.a.md', '.b/c.md', 'node_modules/d.md', 'e.txt', 'f/g/h/i.md', 'j/k/l.md']) {
      await putFile(root(name), '');
    }
    await mkdir(root('folder.md'));
    execFileSync('mkfifo', [root('pipe.md')]);
    await symlink('/dev/zero', root('device.md'));
    await symlink(root('missing'), root('dangling.md'));
    expect(await find()).toEqual({ exists: true, paths: ['j/k/l.md'], isCut: false });
  });

  it('of a missing folder, and of one that cannot be listed, are none', async () => {
    expect(await find()).toEqual({ exists: false, paths: [], isCut: false });
    await putFile(root(), 'a file');
    expect(await find()).toEqual({ exists: false, paths: [], isCut: false });
  });

  it('can be chosen by name, and decide whether subdirectories are searched', async () => {
    for (const name of ['a.md', 'one/a.md', 'one/x.md', 'one/in/a.md', 'two/y.md', 'two/in/a.md']) {
      await putFile(root(name), '');
    }
    const search: FolderSearch = {
      choose: (names, isRoot) => (isRoot ? [] : names.filter((name) => name === 'a.md')),
      descends: async (chosen) => chosen.length === 0,
    };
    expect((await find({ search })).paths).toEqual(['one/a.md', 'two/in/a.md']);
  });
});

describe('links', () => {
  it('to files and directories are followed, each real directory a single time', async () => {
    await putFile(at('other', 'a.md'), '');
    await putFile(root('own', 'b.md'), '');
    await symlink(at('other'), root('one'));
    await symlink(at('other'), root('two'));
    await symlink(at('other', 'a.md'), root('c.md'));
    await symlink(root(), root('own', 'self'));
    await symlink(root('loop'), root('loop'));
    expect(await find()).toEqual({ exists: true, paths: ['c.md', 'one/a.md', 'own/b.md'], isCut: false });
    expect((await find({ limits: { linkedDirectories: false } })).paths).toEqual(['c.md', 'own/b.md']);
  });

  it('are followed only within the boundary', async () => {
    await putFile(at('other', 'a.md'), '');
    await putFile(root('own', 'b.md'), '');
    await symlink(at('other'), root('one'));
    await symlink(at('other', 'a.md'), root('c.md'));
    await symlink(root('own'), root('d'));
    await symlink(root('own', 'b.md'), root('e.md'));
    expect((await find({ within: root() })).paths).toEqual(['d/b.md', 'e.md']);
    expect((await find({ within: at('other') })).exists).toBe(false);
    expect((await find({ within: at('missing') })).exists).toBe(false);
  });

  it('that make the folder itself are followed', async () => {
    await putFile(at('other', 'a.md'), '');
    await symlink(at('other'), root());
    expect((await find()).paths).toEqual(['a.md']);
    expect(await find({ within: at('elsewhere') })).toMatchObject({ exists: false });
  });
});

describe('limits', () => {
  it('of files omit the deepest, then the last', async () => {
    for (const name of ['a/1.md', 'a/2.md', 'b.md', 'c.md', 'd.md', 'e/f/g.md']) await putFile(root(name), '');
    expect(await find()).toEqual({ exists: true, paths: ['a/1.md', 'a/2.md', 'b.md', 'c.md', 'd.md'], isCut: true });
    expect((await find({ limits: { files: 6 } })).isCut).toBe(false);
  });

  it('of directories count the folder itself', async () => {
    for (const name of ['a', 'b', 'c', 'd', 'e']) await putFile(root(name, 'x.md'), '');
    expect(await find()).toMatchObject({ isCut: false });
    expect(await find({ limits: { directories: 5 } })).toMatchObject({
      paths: ['a/x.md', 'b/x.md', 'c/x.md', 'd/x.md'],
      isCut: true,
    });
  });

  it('of links bound how many are resolved', async () => {
    await putFile(at('other', 'a.md'), '');
    await mkdir(root());
    for (let link = 0; link < 8; link += 1) await symlink(at(`missing${link}`), root(`a${link}`));
    await symlink(at('other'), root('b'));
    expect(await find()).toEqual({ exists: true, paths: [], isCut: true });
    expect(await find({ limits: { directories: 9 } })).toEqual({ exists: true, paths: ['b/a.md'], isCut: false });
  });

  it('of bytes count large files as what is read of them', async () => {
    await putFile(root('a.md'), 'x'.repeat(5000));
    await putFile(root('b.md'), 'x'.repeat(60));
    await putFile(root('c.md'), 'x'.repeat(60));
    expect(await find({ limits: { bytes: 220 } })).toMatchObject({ isCut: false });
    expect(await find({ limits: { bytes: 219 } })).toMatchObject({ paths: ['a.md', 'b.md'], isCut: true });
  });
});

describe('a file', () => {
  it('is read within its limit and its boundary', async () => {
    await putFile(at('secret.md'), 'key');
    await putFile(root('a.md'), 'x'.repeat(100));
    await symlink(at('secret.md'), root('link.md'));
    const read = (name: string, limits: { maxBytes: number; within?: string }) =>
      readMarkdownFile(root(name), limits, runtime);
    expect(await read('a.md', { maxBytes: 100, within: root() })).toHaveLength(100);
    await expect(read('a.md', { maxBytes: 99 })).rejects.toThrow('larger than 99 bytes');
    expect(await read('link.md', { maxBytes: 100 })).toBe('key');
    await expect(read('link.md', { maxBytes: 100, within: root() })).rejects.toThrow('leads out');
  });

  it('is unchanged while its size and its time are', () => {
    const seen = { path: 'a', size: 1, mtimeMs: 1 };
    expect(isUnchanged(seen, { ...seen })).toBe(true);
    expect(isUnchanged(seen, { ...seen, size: 2 })).toBe(false);
    expect(isUnchanged(seen, { ...seen, mtimeMs: 2 })).toBe(false);
  });
});
