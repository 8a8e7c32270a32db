/** A search of contents searches the files of the shared table of ignore rules, without hidden ones. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { grepFields } from '#schema/rest/grep.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { grep, type GrepDeps } from '#server/workspace-files/grep/grep.ts';
import { growIgnoreTree, ignoreTrees } from '#support/ignore-trees.ts';
import { openProjects } from '#support/projects.ts';

const request = z.object(grepFields).parse({ pattern: 'needle' });
const isHidden = (path: string) => path.split('/').some((name) => name.startsWith('.'));

describe.each<[string, Partial<GrepDeps>]>([
  ['with ripgrep', {}],
  ['without ripgrep', { ripgrep: async () => undefined }],
])('%s', (_engine, engine) => {
  it.each(ignoreTrees.map((tree) => [tree.name, tree] as const))('%s', async (_name, tree) => {
    const { work, env, seen } = await growIgnoreTree(tree);
    await Promise.all(tree.files.map((path) => writeFile(join(work, path), 'needle')));
    const runtime = createLocalRuntime({ env: () => env });
    const { topOf } = openProjects();
    const { signal } = new AbortController();
    const { files } = await grep({ root: work, additionalDirs: () => [] }, request, {
      runtime,
      topOf,
      signal,
      ...engine,
    });
    expect(files.map(({ path }) => path)).toEqual(seen.filter((path) => !isHidden(path)));
  });
});
