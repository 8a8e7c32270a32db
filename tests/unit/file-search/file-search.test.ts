import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#server/clock.ts';
import { createFileSearch, type FileSearchDeps } from '#server/file-search/file-search.ts';
import { createLogger } from '#server/logging/log.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import type { TreeWatcher } from '#server/watches/tree-watcher.ts';
import { createTrees, type Trees } from '#server/watches/trees.ts';
import type { SearchFiles } from '#schema/file-search.ts';
import { openProjects } from '#support/projects.ts';

const log = createLogger('silent');
let root: string;
let trees: Trees;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'service-code-search-')));
  trees = createTrees({ windowMs: () => 20, log });
  return async () => {
    await trees.close();
    await rm(root, { recursive: true });
  };
});

function start(more: Partial<FileSearchDeps> = {}) {
  const service = createFileSearch({
    topOf: openProjects().topOf,
    trees,
    runtime: createLocalRuntime(),
    env: () => process.env,
    clock: systemClock,
    log,
    ...more,
  });
  onTestFinished(() => service.close());
  const search = async (query: string, request: Partial<SearchFiles> = {}, signal = new AbortController().signal) =>
    service.search(
      { root, additionalDirs: () => [] },
      { query, limit: 50, follow_gitignore: true, ...request },
      signal,
    );
  return { search };
}

test('without ripgrep the tree answers once it is known', async () => {
  await mkdir(join(root, 'src'));
  await writeFile(join(root, 'src/a.ts'), '');
  const { search } = start({ ripgrep: async () => undefined });
  expect((await search('a.ts')).items.map(({ path }) => path)).toEqual(['src/a.ts']);
});

/** The trees with their watchers, of which some methods are replaced. */
const changedTrees = (change: (watcher: TreeWatcher) => Partial<TreeWatcher>): Pick<Trees, 'lease'> => ({
  async lease(directory) {
    const { watcher, release } = await trees.lease(directory);
    return { watcher: { ...watcher, ...change(watcher) }, release };
  },
});

test('without ripgrep the tree is waited for, longer than where ripgrep could answer', async () => {
  await writeFile(join(root, 'a.ts'), '');
  const slow = changedTrees(({ settle }) => ({
    settle: () => new Promise((resolve) => setTimeout(() => resolve(settle()), 400)),
  }));
  const { search } = start({ ripgrep: async () => undefined, trees: slow });
  expect((await search('a.ts')).items).toHaveLength(1);
});

test('without ripgrep a tree that is known no longer is listed anew', async () => {
  await writeFile(join(root, 'a.ts'), '');
  let leases = 0;
  const { search } = start({
    ripgrep: async () => undefined,
    trees: changedTrees(({ knows }) => {
      leases += 1;
      return leases === 1 ? { knows: () => false } : { knows };
    }),
  });
  expect((await search('a.ts')).items).toHaveLength(1);
  expect(leases).toBe(2);
});

test('a tree that cannot be watched is answered cold, every time', async () => {
  await writeFile(join(root, 'a.ts'), '');
  const refusing: Pick<Trees, 'lease'> = { lease: () => Promise.reject(new Error('no more watches')) };
  const { search } = start({ trees: refusing });
  for (let n = 0; n < 3; n += 1) expect((await search('a.ts')).items).toHaveLength(1);
});

test('ends with the client', async () => {
  await writeFile(join(root, 'a.ts'), '');
  const { search } = start();
  const gone = new AbortController();
  const searching = search('a', {}, gone.signal);
  gone.abort(new Error('the client is gone'));
  await expect(searching).rejects.toThrow('the client is gone');
});
