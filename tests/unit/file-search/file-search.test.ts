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
import type { SearchFiles } from '#schema/rest/file-search.ts';
import { eventually } from '#support/patience.ts';
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

test('without ripgrep the search uses the tree as soon as it is complete', async () => {
  await mkdir(join(root, 'src'));
  await writeFile(join(root, 'src/a.ts'), '');
  const { search } = start({ ripgrep: async () => undefined });
  expect((await search('a.ts')).items.map(({ path }) => path)).toEqual(['src/a.ts']);
});

/** The trees with some methods of their watchers replaced. */
const changedTrees = (change: (watcher: TreeWatcher) => Partial<TreeWatcher>): Pick<Trees, 'lease'> => ({
  async lease(directory) {
    const { watcher, release } = await trees.lease(directory);
    return { watcher: { ...watcher, ...change(watcher) }, release };
  },
});

test('without ripgrep the search waits for the tree, longer than with it', async () => {
  await writeFile(join(root, 'a.ts'), '');
  const settling: (() => void)[] = [];
  let held = false;
  const busy = changedTrees(({ settle }) => ({
    async settle() {
      if (held) await new Promise<void>((resolve) => settling.push(resolve));
      return settle();
    },
  }));
  const { search } = start({ ripgrep: async () => undefined, trees: busy });
  await search('a.ts');
  held = true;
  const first = search('a.ts');
  // Each search settles the tree twice: briefly before ripgrep, and after it.
  await eventually(() => expect(settling).toHaveLength(2));
  const second = search('a.ts');
  await eventually(() => expect(settling).toHaveLength(4));
  for (const settle of settling) settle();
  for (const hits of [await first, await second]) expect(hits.items).toHaveLength(1);
});

/** Trees that change permanently while `isBusy`; `leases` counts how often one was leased. */
function busyTrees(onSettle = () => {}) {
  const state = { isBusy: true, leases: 0 };
  const busy = changedTrees(({ settle }) => {
    state.leases += 1;
    return {
      settle() {
        onSettle();
        return state.isBusy ? new Promise(() => {}) : settle();
      },
    };
  });
  return { state, trees: busy };
}

test('without ripgrep a tree that only changes is waited for, and not listed again', async () => {
  await writeFile(join(root, 'a.ts'), '');
  const { state, trees: busy } = busyTrees();
  const { search } = start({ ripgrep: async () => undefined, trees: busy, timeoutMs: 300 });
  for (let n = 0; n < 3; n += 1) await expect(search('a.ts')).rejects.toThrow('ripgrep');
  state.isBusy = false;
  await eventually(async () => expect((await search('a.ts')).items).toHaveLength(1));
  expect(state.leases).toBe(1);
});

test('without ripgrep the wait for a tree ends with the client', async () => {
  await writeFile(join(root, 'a.ts'), '');
  const gone = new AbortController();
  const { trees: busy } = busyTrees(() => gone.abort(new Error('the client is gone')));
  const { search } = start({ ripgrep: async () => undefined, trees: busy, timeoutMs: 600_000 });
  await expect(search('a.ts', {}, gone.signal)).rejects.toThrow('the client is gone');
});

test('without ripgrep a tree that is no longer complete is listed again', async () => {
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

test('a tree that cannot be watched is searched cold every time', async () => {
  await writeFile(join(root, 'a.ts'), '');
  const refusing: Pick<Trees, 'lease'> = { lease: () => Promise.reject(new Error('no more watches')) };
  const { search } = start({ trees: refusing });
  for (let n = 0; n < 3; n += 1) expect((await search('a.ts')).items).toHaveLength(1);
});

test('a search ends with the client', async () => {
  await writeFile(join(root, 'a.ts'), '');
  const { search } = start();
  const gone = new AbortController();
  const searching = search('a', {}, gone.signal);
  gone.abort(new Error('the client is gone'));
  await expect(searching).rejects.toThrow('the client is gone');
});
