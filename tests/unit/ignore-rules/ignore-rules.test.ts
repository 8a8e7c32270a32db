/** Lists and ripgrep find the same files in every tree. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rgPath } from '@vscode/ripgrep';
import { describe, expect, it } from 'vitest';
import { parseIgnoreFile } from '#server/ignore-rules/ignore-file.ts';
import { listFiles } from '#server/workspace-files/list.ts';
import { growIgnoreTree, ignoreTrees, type GrownTree } from '#support/ignore-trees.ts';
import { openProjects } from '#support/projects.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const everything = {
  path: '.',
  depth: 10,
  limit: 1000,
  show_hidden: true,
  follow_gitignore: true,
  include_git_status: false,
  sort: 'name_asc',
} as const;

const { topOf } = openProjects();

async function listed({ work, env }: GrownTree): Promise<string[]> {
  const directory = { root: work, additionalDirs: () => [] };
  const { items, children_by_path } = await listFiles(directory, everything, {
    env,
    topOf,
    signal: new AbortController().signal,
  });
  const entries = [...items, ...Object.values(children_by_path ?? {}).flat()];
  return entries.flatMap(({ kind, path }) => (kind === 'file' ? [path] : [])).toSorted();
}

async function foundByRipgrep({ work, env, inRepository }: GrownTree): Promise<string[]> {
  const outside = inRepository ? [] : ['--no-require-git', '--no-ignore-parent'];
  const args = ['--no-config', '--files', '--hidden', '--null', '--glob=!.git', ...outside];
  const { stdout } = await promisify(execFile)(rgPath, args, { cwd: work, env });
  return stdout.split('\0').filter(Boolean).toSorted();
}

describe.each(ignoreTrees)('$name', (tree) => {
  it('is what a list returns', async () => {
    const grown = await growIgnoreTree(tree);
    expect(await listed(grown)).toEqual(grown.seen);
    expect((await topOf(grown.work)) !== undefined).toBe(grown.inRepository);
  });

  it('is what ripgrep returns', async () => {
    const grown = await growIgnoreTree(tree);
    expect(await foundByRipgrep(grown)).toEqual(grown.seen);
  });
});

describe('hostile ignore files', () => {
  it('are matched in bounded time', () => {
    const rules = parseIgnoreFile(`${'*a'.repeat(40)}b\n${'**/a/'.repeat(40)}b\n`.repeat(50));
    const started = performance.now();
    for (let round = 0; round < 20; round++) {
      expect(rules?.match(`${'a/'.repeat(100)}${'a'.repeat(255)}`, 'a'.repeat(255), false)).toBeUndefined();
    }
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  it('that are pipes do not block', async () => {
    const root = await temporaryHome();
    await promisify(execFile)('mkfifo', [join(root, '.gitignore'), join(root, '.ignore')]);
    await mkdir(join(root, '.git/info'), { recursive: true });
    await promisify(execFile)('mkfifo', [join(root, '.git/info/exclude')]);
    await writeFile(join(root, 'a'), '');
    const tree = { work: root, env: { HOME: root }, inRepository: true, seen: [] };
    expect(await listed(tree)).toEqual(['.gitignore', '.ignore', 'a']);
  });
});
