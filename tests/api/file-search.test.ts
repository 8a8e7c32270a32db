import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fileHitsSchema, type FileHits } from '#schema/rest/file-search.ts';
import { workspaceSchema } from '#schema/rest/workspace.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
let clock: ManualClock;
let project: string;
let sessionId: string;

beforeAll(async () => {
  clock = manualClock();
  world = await startWorld({ clock });
});
afterAll(() => world.close());

beforeEach(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), 'service-code-searched-')));
  sessionId = (await world.session({ metadata: { cwd: project } })).id;
  return () => rm(project, { recursive: true, force: true });
});

async function put(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(join(project, path, '..'), { recursive: true });
    await writeFile(join(project, path), 'x');
  }
}

const search = async (query: string, more: object = {}): Promise<FileHits> =>
  fileHitsSchema.parse(await world.ok('POST', `/sessions/${sessionId}/fs:search`, { query, ...more }));
const suggest = async (query: string, more: object = {}): Promise<FileHits> =>
  fileHitsSchema.parse(await world.ok('POST', '/workspace/fs:suggest', { workspace: project, query, ...more }));
const pathsOf = ({ items }: FileHits) => items.map(({ path }) => path);

/** Searches until the tree is indexed: an index has links, the answer of a cold search does not. */
async function warmUp(): Promise<void> {
  await symlink('nowhere', join(project, 'mark.known'));
  await expect.poll(async () => pathsOf(await search('mark.known'))).toEqual(['mark.known']);
}

describe.each(['cold', 'warm'])('a %s search', (state) => {
  const prepared = async (...paths: string[]) => {
    await put(...paths);
    if (state === 'warm') await warmUp();
  };

  test('finds files and directories, best first, with match positions', async () => {
    await prepared('src/a.ts', 'src/deep/er/z.py', 'docs/readme.md', '.hidden/a.ts');
    expect((await search('a.ts')).items).toEqual([
      { path: '.hidden/a.ts', name: 'a.ts', kind: 'file', score: 0.9375, match_positions: [8, 9, 10, 11] },
      { path: 'src/a.ts', name: 'a.ts', kind: 'file', score: 0.9375, match_positions: [4, 5, 6, 7] },
    ]);
    expect((await search('docs')).items[0]).toEqual({
      path: 'docs',
      name: 'docs',
      kind: 'directory',
      score: 1,
      match_positions: [0, 1, 2, 3],
    });
    expect(pathsOf(await search('sr/dp/z'))).toEqual(['src/deep/er/z.py']);
    expect(await search('/')).toEqual({ items: [], truncated: false });
  });

  test('is cut at the limit and reports it', async () => {
    await prepared('b1', 'b2', 'b3');
    expect(await search('b', { limit: 2 })).toMatchObject({ items: [{ path: 'b1' }, { path: 'b2' }], truncated: true });
    expect(await search('b', { limit: 3 })).toMatchObject({ truncated: false });
  });

  test('returns the top level for an empty query', async () => {
    await prepared('z/1', 'a', 'B', '.hidden', '.git/HEAD', 'out/x', '.gitignore');
    await writeFile(join(project, '.gitignore'), 'out\n');
    const mark = state === 'warm' ? ['mark.known'] : [];
    const { items } = await search('');
    expect(items.map(({ path }) => path)).toEqual(['z', 'a', 'B', ...mark]);
    expect(items[0]).toEqual({ path: 'z', name: 'z', kind: 'directory', score: 1, match_positions: [] });
    expect(pathsOf(await search('./', { limit: 1, include_globs: ['B'] }))).toEqual(['B']);
    expect(pathsOf(await suggest('', { show_hidden: true, follow_gitignore: false }))).toEqual([
      'out',
      'z',
      ...['.gitignore', '.hidden', 'a', 'B', ...mark].toSorted(new Intl.Collator('en').compare),
    ]);
  });

  test('completes without hidden entries by default, shallow and short ones first', async () => {
    await prepared('x/y/ab.ts', 'ab.ts', 'x/ab', 'ab-long.ts', '.h/ab', 'x/.ab');
    expect(pathsOf(await suggest('ab'))).toEqual(['x/ab', 'ab.ts', 'ab-long.ts', 'x/y/ab.ts']);
    expect(pathsOf(await suggest('ab', { show_hidden: true }))).toEqual([
      '.h/ab',
      'x/ab',
      'ab.ts',
      'ab-long.ts',
      'x/y/ab.ts',
      'x/.ab',
    ]);
  });

  test('accepts globs: excluded directories are not entered, included ones do not stop the walk', async () => {
    await prepared('src/a.ts', 'src/a.js', 'lib/a.ts', 'lib/x/a.ts');
    expect(pathsOf(await search('a.', { include_globs: ['*.ts'], exclude_globs: ['lib/x'] }))).toEqual([
      'lib/a.ts',
      'src/a.ts',
    ]);
    expect(pathsOf(await search('a.', { exclude_globs: ['lib/', '*.known'] }))).toEqual(['src/a.js', 'src/a.ts']);
    const refused = await world.api('POST', `/sessions/${sessionId}/fs:search`, {
      query: 'a',
      include_globs: ['ok', '['],
    });
    expect(refused).toMatchObject({ code: 40001, details: [{ path: 'include_globs.1' }] });
  });
});

describe('an indexed tree', () => {
  test('has links and empty directories, and follows creations and deletions', async () => {
    await put('here/x');
    await mkdir(join(project, 'empty'));
    expect(pathsOf(await search('empty'))).toEqual([]);
    await warmUp();
    expect((await search('empty')).items).toMatchObject([{ path: 'empty', kind: 'directory' }]);
    expect((await search('mark.known')).items).toMatchObject([{ path: 'mark.known', kind: 'symlink' }]);
    for (let n = 0; n < 20; n += 1) {
      await put(`new-${n}/deep/er`);
      expect(pathsOf(await search(`new-${n}/er`))).toEqual([`new-${n}/deep/er`]);
      await unlink(join(project, `new-${n}/deep/er`));
      expect(pathsOf(await search(`new-${n}/er`))).toEqual([]);
    }
  });

  test('follows ignore files of any kind, at any depth and outside the tree', async () => {
    await put('sub/a.one', 'sub/a.two', 'sub/a.three', 'sub/deep/a.three');
    await warmUp();
    const found = async () => pathsOf(await search('sub/a.')).toSorted();
    expect(await found()).toHaveLength(4);
    await writeFile(join(project, '.gitignore'), '*.one\n');
    await expect.poll(found).toEqual(['sub/a.three', 'sub/a.two', 'sub/deep/a.three']);
    await writeFile(join(project, 'sub/.ignore'), '!*.one\n*.two\n');
    await expect.poll(found).toEqual(['sub/a.one', 'sub/a.three', 'sub/deep/a.three']);
    await writeFile(join(project, 'sub/deep/.gitignore'), '*\n');
    await expect.poll(found).toEqual(['sub/a.one', 'sub/a.three']);
    execFileSync('git', ['init', '--quiet', project]);
    await writeFile(join(project, '.git/info/exclude'), '*.three\n');
    await expect.poll(found).toEqual(['sub/a.one']);
    expect(pathsOf(await search('sub/a.', { follow_gitignore: false }))).toHaveLength(4);
  });

  test('is cached for five minutes after the last search, and keeps no session loaded', async () => {
    const { sessions } = world.server.app;
    await put('x');
    await warmUp();
    clock.advance(4 * 60_000);
    expect(pathsOf(await search('mark.known'))).toEqual(['mark.known']);
    clock.advance(4 * 60_000);
    expect(pathsOf(await search('mark.known'))).toEqual(['mark.known']);
    clock.advance(5 * 60_000 + 1);
    expect(pathsOf(await search('mark.known'))).toEqual([]);
    await world.ok('POST', `/sessions/${sessionId}:archive`);
    expect(sessions.liveRow(sessionId)).toBeUndefined();
  });
});

describe('the workspace of a search', () => {
  test('is given by its id, or by the path of its root', async () => {
    await put('x.ts');
    const known = async () =>
      (await world.server.app.workspaces.list()).map(({ root, last_opened_at }) => ({ root, last_opened_at }));
    const before = await known();
    const { id } = workspaceSchema.parse(
      (await world.server.app.workspaces.list()).find(({ root }) => root === project),
    );
    for (const workspace of [id, project]) {
      const data = await world.ok('POST', '/workspace/fs:search', { workspace, query: 'x' });
      expect(pathsOf(fileHitsSchema.parse(data))).toEqual(['x.ts']);
      const inSlot = `/sessions/${encodeURIComponent(workspace)}/fs:search`;
      expect(pathsOf(fileHitsSchema.parse(await world.ok('POST', inSlot, { query: 'x' })))).toEqual(['x.ts']);
    }
    expect(await known()).toEqual(before);
    await mkdir(join(project, 'sub'));
    await world.ok('POST', '/workspace/fs:search', { workspace: join(project, 'sub'), query: 'x' });
    expect((await known()).map(({ root }) => root)).toContain(join(project, 'sub'));
  });

  test('must exist', async () => {
    for (const workspace of ['nobody', 'relative/path', join(project, 'missing'), 'wd_x_000000000000']) {
      const body = { workspace, query: 'x', runtime_id: 'moon' };
      expect(await world.api('POST', '/workspace/fs:search', body)).toMatchObject({
        code: 40410,
        msg: `workspace ${workspace} does not exist`,
      });
      expect(await world.api('POST', `/sessions/${encodeURIComponent(workspace)}/fs:search`, body)).toMatchObject({
        code: 40401,
        msg: `session ${workspace} does not exist`,
      });
    }
  });

  test('is checked after the schema and before the search', async () => {
    const at = (body: object) => world.api('POST', '/workspace/fs:suggest', body);
    expect(await at({ query: 'x' })).toMatchObject({ code: 40001, details: [{ path: 'workspace' }] });
    expect(await at({ workspace: 'nobody', query: 'x', limit: 201 })).toMatchObject({ code: 40001 });
    expect(await at({ workspace: project, query: 'x', runtime_id: 'moon' })).toMatchObject({ code: 40420 });
    const inSession = await world.api('POST', '/sessions/nobody/fs:search', { query: 'x', limit: 0 });
    expect(inSession.code).toBe(40401);
    expect((await world.api('POST', `/sessions/${sessionId}/fs:search`, {})).details).toMatchObject([
      { path: 'query' },
    ]);
  });

  test('may have been removed', async () => {
    await rm(project, { recursive: true });
    expect(await search('x')).toEqual({ items: [], truncated: false });
    expect(await world.api('POST', `/sessions/${sessionId}/fs:search`, { query: '' })).toMatchObject({ code: 40409 });
  });
});
