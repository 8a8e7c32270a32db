/** `fs:list` and `fs:list_many` over a real server. */
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fileListSchema, fileListsSchema, type FileList } from '#schema/rest/file-list.ts';
import { startFilesSession, type FilesSession } from '#support/files-session.ts';

let session: FilesSession;
let root: string;
beforeAll(async () => {
  session = await startFilesSession();
  ({ root } = session);
});
afterAll(() => session.close());
beforeEach(async () => {
  await rm(root, { recursive: true, force: true });
  await mkdir(root);
});

async function write(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), text);
  }
}

const list = async (body: Record<string, unknown> = {}): Promise<FileList> =>
  fileListSchema.parse(await session.ok('list', body));
const names = async (body: Record<string, unknown> = {}) => (await list(body)).items.map(({ name }) => name);

describe('entries', () => {
  it('have the attributes of their kind', async () => {
    await write({ 'src/a.ts': 'abc' });
    await symlink('src', join(root, 'link'));
    const { items, truncated } = await list();
    expect(truncated).toBe(false);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const etag = expect.stringMatching(/^[0-9a-z]+-[0-9a-z]+-[0-9a-z]+$/);
    expect(items).toEqual([
      { path: 'src', name: 'src', kind: 'directory', modified_at: time, etag },
      { path: 'link', name: 'link', kind: 'symlink', is_symlink_to: 'src', modified_at: time, etag },
    ]);
    expect((await list({ path: 'link' })).items).toMatchObject([{ path: 'link/a.ts', kind: 'file', size: 3 }]);
  });

  it('require a directory', async () => {
    await write({ 'a.ts': '' });
    for (const path of ['a.ts', 'missing']) {
      expect(await session.fs('list', { path })).toMatchObject({ code: 40409, msg: `path not found: ${path}` });
    }
    expect(await session.fs('list', { path: '' })).toMatchObject({ code: 41304, msg: 'path "" rejected (empty)' });
    await rm(root, { recursive: true });
    expect(await session.fs('list')).toMatchObject({ code: 40409, msg: 'path not found: .' });
  });

  it('include links that lead outside, which cannot be followed', async () => {
    await symlink(session.outside, join(root, 'out'));
    expect(await names()).toEqual(['out']);
    expect(await session.fs('list', { path: 'out' })).toMatchObject({ code: 41304 });
  });
});

describe('order and truncation', () => {
  const sorted = async (sort: string) => (await names({ sort })).join(' ');
  it('sorts before it truncates', async () => {
    await write({ 'b.ts': '1', 'A.ts': '333', 'c/x': '', 'ä.ts': '22' });
    await symlink('b.ts', join(root, 'd'));
    for (const [index, name] of ['c', 'b.ts', 'A.ts', 'ä.ts'].entries()) await utimes(join(root, name), 1, 100 + index);
    expect(await sorted('type_first')).toBe('c A.ts ä.ts b.ts d');
    expect(await sorted('name_asc')).toBe('A.ts ä.ts b.ts c d');
    expect(await sorted('name_desc')).toBe('d c b.ts ä.ts A.ts');
    expect(await sorted('mtime_desc')).toBe('d ä.ts A.ts b.ts c');
    expect(await sorted('size_desc')).toBe('A.ts ä.ts b.ts c d');
    expect(await list({ sort: 'size_desc', limit: 2 })).toMatchObject({
      items: [{ name: 'A.ts' }, { name: 'ä.ts' }],
      truncated: true,
    });
    expect(await list({ limit: 5 })).toMatchObject({ truncated: false });
  });

  it('walks real directories below, each truncated separately', async () => {
    await write({ 'a/1': '', 'a/2': '', 'a/deep/3': '', 'b/empty/4': '' });
    await rm(join(root, 'b/empty/4'));
    await symlink('a', join(root, 'link'));
    expect(await list({ depth: 1 })).not.toHaveProperty('children_by_path');
    const { children_by_path, truncated } = await list({ depth: 3 });
    const paths = Object.entries(children_by_path ?? {}).map(([key, entries]) => [
      key,
      entries.map(({ path }) => path),
    ]);
    expect(paths).toEqual([
      ['a', ['a/deep', 'a/1', 'a/2']],
      ['b', ['b/empty']],
      ['a/deep', ['a/deep/3']],
      ['b/empty', []],
    ]);
    expect(truncated).toBe(false);
    const cut = await list({ depth: 2, limit: 2 });
    expect(cut.truncated).toBe(true);
    expect(Object.keys(cut.children_by_path ?? {})).toEqual(['a', 'b']);
    expect(cut.children_by_path?.a).toHaveLength(2);
    expect((await list({ path: 'b/empty', depth: 2 })).children_by_path).toEqual({});
  });
});

describe('filters', () => {
  it('hides names that begin with a dot, and .git in any case', async () => {
    await write({ '.env': '', a: '', '.git/HEAD': 'ref: refs/heads/main' });
    expect(await names()).toEqual(['a']);
    expect(await names({ show_hidden: true })).toEqual(['.env', 'a']);
    expect(await names({ show_hidden: true, follow_gitignore: false })).toEqual(['.git', '.env', 'a']);
  });

  it('omits entries that ignore files match, without a repository too', async () => {
    await write({ '.gitignore': '*.log\nbuild/\n', 'a.log': '', 'b.ts': '', 'build/x': '', 'src/c.log': '' });
    expect(await names()).toEqual(['src', 'b.ts']);
    expect(await names({ path: 'build' })).toEqual([]);
    expect(await names({ path: 'src' })).toEqual([]);
    expect(await names({ path: 'build', follow_gitignore: false })).toEqual(['x']);
  });

  it('reads an ignore file through a link inside the workspace, but not through one that leads outside', async () => {
    const outside = join(session.outside, 'patterns');
    await writeFile(outside, '*.log\n');
    await write({ patterns: '*.log\n', 'a.log': '', 'src/b.log': '' });
    const shown = async () => (await list({ depth: 2, exclude_globs: ['patterns'] })).items.map(({ name }) => name);
    const below = async () => names({ path: 'src' });
    for (const directory of ['', 'src']) {
      for (const name of ['.gitignore', '.ignore']) {
        const link = join(root, directory, name);
        await symlink(outside, link);
        expect([await shown(), await below()]).toEqual([['src', 'a.log'], ['b.log']]);
        await rm(link);
        await symlink(join(root, 'patterns'), link);
        expect([await shown(), await below()]).toEqual([directory === '' ? ['src'] : ['src', 'a.log'], []]);
        await rm(link);
      }
    }
  });

  it('includes ignored entries that a glob allows, and their parents', async () => {
    await write({ '.gitignore': 'build/\n*.log\n', 'build/keep/a.js': '', 'build/b.js': '', 'c.log': '', 'd.log': '' });
    const body = { depth: 3, allow_ignored_globs: ['build/keep/*.js', 'c.log'] };
    const { items, children_by_path } = await list(body);
    expect(items.map(({ name }) => name)).toEqual(['build', 'c.log']);
    expect(Object.values(children_by_path ?? {}).flatMap((entries) => entries.map(({ path }) => path))).toEqual([
      'build/keep',
      'build/keep/a.js',
    ]);
    expect(await names({ ...body, exclude_globs: ['build'] })).toEqual(['c.log']);
  });

  it('omits and does not enter entries that a glob excludes', async () => {
    await write({ 'a.ts': '', 'a.js': '', 'dist/b.ts': '', 'src/dist/c.ts': '', 'src/gen/d.ts': '' });
    expect(await names({ exclude_globs: ['*.js', 'dist/'] })).toEqual(['src', 'a.ts']);
    const { children_by_path } = await list({ depth: 2, exclude_globs: ['src/gen', '/a.ts'] });
    expect(children_by_path?.src?.map(({ path }) => path)).toEqual(['src/dist']);
    expect(await session.fs('list', { exclude_globs: ['a', '[b'], path: '/' })).toMatchObject({
      code: 40001,
      details: [{ path: 'exclude_globs.1', message: 'invalid glob: a bracket is never closed' }],
    });
  });
});

describe('fs:list_many', () => {
  it('returns a result or an error for each path', async () => {
    await write({ 'src/a.ts': '', 'src/b.ts': '', 'lib/c.ts': '' });
    await symlink(session.outside, join(root, 'out'));
    const data = fileListsSchema.parse(
      await session.ok('list_many', { paths: ['missing', 'out', './src', 'lib', 'lib', '..'], limit: 1, depth: 3 }),
    );
    expect(Object.keys(data.results)).toEqual(['./src', 'lib']);
    expect(data.results['./src']?.map(({ path }) => path)).toEqual(['src/a.ts']);
    expect(data.truncated_paths).toEqual(['./src']);
    expect(data.partial_errors).toEqual({
      missing: { code: 40409, msg: 'path not found: missing' },
      out: { code: 41304, msg: 'path "out" escapes workspace through a symlink' },
      '..': { code: 41304, msg: 'path ".." rejected (dotdot segment)' },
    });
    const none = await session.ok('list_many', { paths: ['lib'] });
    expect(none).toMatchObject({ truncated_paths: [], partial_errors: {} });
  });

  it('accepts 1 to 100 paths', async () => {
    expect(await session.fs('list_many', { paths: [] })).toMatchObject({ code: 40001, details: [{ path: 'paths' }] });
    expect(await session.fs('list_many', { paths: Array(101).fill('a') })).toMatchObject({ code: 40001 });
  });
});

it('finds the first of many entries, regardless of their order on disk', async () => {
  await mkdir(join(root, 'many'));
  const many = Array.from({ length: 3000 }, (_, index) => `many/${String(index).padStart(4, '0')}`);
  await Promise.all(many.map((path) => writeFile(join(root, path), '')));
  const { items, truncated } = await list({ path: 'many', limit: 1000, sort: 'name_desc' });
  expect([items.length, truncated, items[0]?.name, items.at(-1)?.name]).toEqual([1000, true, '2999', '2000']);
});
