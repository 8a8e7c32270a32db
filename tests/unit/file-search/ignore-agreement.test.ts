import { basename } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createFileSearch } from '#server/file-search/file-search.ts';
import { createLogger } from '#server/logging/log.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { systemClock } from '#server/clock.ts';
import { createTrees } from '#server/watches/trees.ts';
import { growIgnoreTree, ignoreTrees } from '#support/ignore-trees.ts';
import { openProjects } from '#support/projects.ts';

const log = createLogger('silent');

test.each(ignoreTrees)('cold and warm searches agree: $name', async (tree) => {
  const { work, env, seen } = await growIgnoreTree(tree);
  const trees = createTrees({ windowMs: () => 50, log });
  const runtime = createLocalRuntime({ env: () => env });
  const search = createFileSearch({
    trees,
    runtime,
    topOf: openProjects().topOf,
    env: () => env,
    clock: systemClock,
    log,
  });
  onTestFinished(async () => {
    search.close();
    await trees.close();
  });
  const directory = { root: work, additionalDirs: () => [] };
  const initials = new Set([...tree.files, '.'].map((path) => basename(path).charAt(0)));
  const request = { limit: 200, follow_gitignore: true, show_hidden: true };
  const { signal } = new AbortController();

  async function found(more: { follow_gitignore?: boolean } = {}): Promise<string[]> {
    const paths = new Set<string>();
    for (const initial of initials) {
      // A lone dot is an empty query.
      const query = initial === '.' ? '.i' : initial;
      const answers = [search.search, search.suggest].map((ask) =>
        ask(directory, { ...request, ...more, query }, signal),
      );
      for (const { items } of await Promise.all(answers)) {
        for (const { path, kind } of items) if (kind === 'file') paths.add(path);
      }
    }
    return [...paths].toSorted();
  }

  // The files named by one of the initials, and the ignore files.
  expect(await found()).toEqual(seen);
  await expect.poll(async () => (await trees.lease(work)).watcher.knows('searched')).toBe(true);
  expect(await found()).toEqual(seen);
});
