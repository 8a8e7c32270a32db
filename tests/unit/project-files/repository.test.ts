import { mkdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createProjects } from '#server/project-files/projects.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { createWorkspace, type Workspace } from '../tools/workspace.ts';
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

/** Asks until what was found is old enough to be remembered. */
async function remembered(files: ReturnType<typeof counted>) {
  const { repositoryOf: find } = createProjects({ runtime: files, trusted: async () => false });
  await eventually(async () => {
    files.readFile.mockClear();
    await find(space.environment.cwd);
    expect(files.readFile).not.toHaveBeenCalled();
  });
  return () => find(space.environment.cwd);
}

test('what a .git directory holds is read once as long as its entries stay', async () => {
  const files = counted();
  const find = await remembered(files);
  files.stat.mockClear();
  const git = space.path('.git');
  expect(await find()).toEqual({ top: space.environment.cwd, controlPaths: [git], inWorkTree: true });
  expect(files.stat).toHaveBeenCalledTimes(1);
});

test('an entry that comes or goes is seen', async () => {
  const find = await remembered(counted());
  await space.write('elsewhere/HEAD', 'x');
  await writeFile(space.path('.git/commondir'), '../elsewhere\n');
  expect((await find())?.controlPaths).toContain(space.path('elsewhere'));
  await rm(space.path('.git/commondir'));
  expect((await find())?.controlPaths).toEqual([space.path('.git')]);
  await rm(space.path('.git/HEAD'));
  expect(await find()).toBeUndefined();
});

test('a .git directory that moves behind a link is seen, whatever time it pretends', async () => {
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
