import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createProjects } from '#server/project-files/projects.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { createWorkspace, type Workspace } from '../builtin-tools/workspace.ts';
import { eventually } from '#support/patience.ts';

let space: Workspace;
beforeEach(async () => {
  space = await createWorkspace();
  await space.write('.git/HEAD', 'ref: refs/heads/main\n');
});
afterEach(() => space.remove());

function counted() {
  const { readFile, stat, realpath, ...runtime } = createLocalRuntime();
  return { ...runtime, readFile: vi.fn(readFile), stat: vi.fn(stat), realpath: vi.fn(realpath) };
}

/** Repeats the call until the result is old enough to be cached. */
async function remembered(files: ReturnType<typeof counted>) {
  const { repositoryOf: find } = createProjects({ runtime: files, trusted: async () => false });
  await eventually(async () => {
    files.readFile.mockClear();
    await find(space.environment.cwd);
    expect(files.readFile).not.toHaveBeenCalled();
  });
  return () => find(space.environment.cwd);
}

test('a .git directory is read a single time while its entries stay unchanged', async () => {
  const files = counted();
  const find = await remembered(files);
  files.stat.mockClear();
  const git = space.path('.git');
  expect(await find()).toEqual({ top: space.environment.cwd, controlPaths: [git], inWorkTree: true });
  expect(files.stat).toHaveBeenCalledTimes(1);
});

test('a created or removed entry invalidates the cache', async () => {
  const find = await remembered(counted());
  await space.write('elsewhere/HEAD', 'x');
  await writeFile(space.path('.git/commondir'), '../elsewhere\n');
  expect((await find())?.controlPaths).toContain(space.path('elsewhere'));
  await rm(space.path('.git/commondir'));
  expect((await find())?.controlPaths).toEqual([space.path('.git')]);
  await rm(space.path('.git/HEAD'));
  expect(await find()).toBeUndefined();
});

test('a .git directory moved from a link’s target is detected, with any time stamps', async () => {
  const find = await remembered(counted());
  const moved = space.path('moved');
  await rename(space.path('.git'), moved);
  await utimes(moved, new Date(0), new Date(0));
  await symlink(moved, space.path('.git'));
  expect((await find())?.controlPaths).toEqual([space.path('.git'), moved]);
  await mkdir(space.path('other'));
  await writeFile(join(space.path('other'), 'HEAD'), 'x');
  await rm(space.path('.git'));
  await symlink(space.path('other'), space.path('.git'));
  expect((await find())?.controlPaths).toEqual([space.path('.git'), space.path('other')]);
});
