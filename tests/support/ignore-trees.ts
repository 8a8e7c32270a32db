/**
 * Trees with ignore files and the visible files of each. All code that lists or searches a work directory is tested
 * against this one table, so that results agree.
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

interface IgnoreTree {
  name: string;
  /** Paths relative to the top; a path with a trailing `/` is a directory with a `.git`, so a repository. */
  repositories?: string[];
  /** The work directory relative to the top; default: the top. */
  work?: string;
  /** Content of the ignore files. */
  rules: Record<string, string>;
  /** Other files, all in the work directory. */
  files: string[];
  /** The user's global excludes of git. */
  global?: string;
  /** Visible paths of `files` and `rules`, relative to the work directory. */
  seen: string[];
}

export const ignoreTrees: IgnoreTree[] = [
  {
    name: 'names and extensions at any depth',
    rules: { '.gitignore': '*.log\nbuild\n' },
    files: ['a.log', 'a.ts', 'x/b.log', 'x/build/c.ts', 'build', 'x/rebuild'],
    seen: ['.gitignore', 'a.ts', 'x/rebuild'],
  },
  {
    name: 'case counts',
    rules: { '.gitignore': '*.LOG\nBuild/\n' },
    files: ['a.log', 'a.LOG', 'build/x', 'Build/x'],
    seen: ['.gitignore', 'a.log', 'build/x'],
  },
  {
    name: 'a final slash asks for a directory',
    rules: { '.gitignore': 'out/\n' },
    files: ['out', 'x/out/a', 'y/outer'],
    seen: ['.gitignore', 'out', 'y/outer'],
  },
  {
    name: 'a slash anchors at the directory of the file',
    rules: { '.gitignore': '/top\na/b\nx/*.c\n', 'sub/.gitignore': '/top\n' },
    files: ['top', 'a/b', 'z/top', 'z/a/b', 'x/f.c', 'x/y/f.c', 'sub/top', 'sub/deep/top'],
    seen: ['.gitignore', 'sub/.gitignore', 'z/top', 'z/a/b', 'x/y/f.c', 'sub/deep/top'],
  },
  {
    name: 'deeper files and later lines win',
    rules: { '.gitignore': '*.log\n!keep.log\n', 'sub/.gitignore': '!*.log\nkeep.log\n' },
    files: ['a.log', 'keep.log', 'sub/a.log', 'sub/keep.log', 'sub/x/a.log'],
    seen: ['.gitignore', 'sub/.gitignore', 'keep.log', 'sub/a.log', 'sub/x/a.log'],
  },
  {
    name: 'nothing comes back below an excluded directory',
    rules: { '.gitignore': 'dir/\n!dir/keep\n*.tmp/*\n!x.tmp/keep\n' },
    files: ['dir/keep', 'dir/a', 'x.tmp/keep', 'x.tmp/a'],
    seen: ['.gitignore', 'x.tmp/keep'],
  },
  {
    name: 'double stars',
    rules: { '.gitignore': '**/foo\nbar/**\na/**/z\nq**r\n' },
    files: ['foo', 'x/foo', 'bar/1', 'bar/x/2', 'a/z', 'a/b/c/z', 'b/a/z', 'qr', 'q1r', 'q/r', 'x/q1r'],
    seen: ['.gitignore', 'b/a/z', 'q/r'],
  },
  {
    name: 'classes and question marks',
    rules: { '.gitignore': 'a?c\n[0-9].x\n[!a].y\n[^b].z\n' },
    files: ['abc', 'ac', 'a/c', '1.x', 'b.x', 'a.y', 'b.y', 'b.z', 'a.z', 'aüc'],
    // A question mark matches one byte.
    seen: ['.gitignore', 'ac', 'a/c', 'b.x', 'a.y', 'b.z', 'aüc'],
  },
  {
    name: 'escapes, comments, spaces and line ends',
    rules: { '.gitignore': '# no\n\\#yes\n\\!bang\nspace \nkept\\ \n\n   \ncr\r\nlast' },
    files: ['# no', 'no', '#yes', '!bang', 'space', 'kept ', 'kept', 'cr', 'last', 'lasting'],
    seen: ['.gitignore', '# no', 'no', 'kept', 'lasting'],
  },
  {
    name: 'names that are no ASCII',
    rules: { '.gitignore': 'grün*\n中???\n' },
    files: ['grün.txt', 'grau.txt', '中文', '中', 'x/中文'],
    seen: ['.gitignore', 'grau.txt', '中'],
  },
  {
    name: '.ignore is stronger than any .gitignore',
    rules: { '.ignore': '!a.log\nb.ts\n', '.gitignore': '*.log\n', 'sub/.gitignore': 'a.log\n!b.ts\n' },
    files: ['a.log', 'c.log', 'b.ts', 'sub/a.log', 'sub/b.ts', 'sub/c.log'],
    seen: ['.ignore', '.gitignore', 'sub/.gitignore', 'a.log', 'sub/a.log'],
  },
  {
    name: '.ignore brings a directory back, and what it holds',
    rules: { '.gitignore': 'build/\nbuild/x\n', '.ignore': '!build/\n' },
    files: ['build/a', 'build/x', 'build/deep/b'],
    seen: ['.ignore', '.gitignore', 'build/a', 'build/deep/b'],
  },
  {
    name: 'deeper .ignore files win over those above',
    rules: { '.ignore': '*.log\n', 'sub/.ignore': '!a.log\n' },
    files: ['a.log', 'sub/a.log', 'sub/b.log'],
    seen: ['.ignore', 'sub/.ignore', 'sub/a.log'],
  },
  {
    name: 'a repository: .git is never seen, its excludes count less than .gitignore',
    repositories: ['.'],
    rules: { '.gitignore': '!a.log\n', '.git/info/exclude': '*.log\n/top\n' },
    files: ['a.log', 'b.log', 'top', 'x/top'],
    seen: ['.gitignore', 'a.log', 'x/top'],
  },
  {
    name: 'the work directory below the top of the work tree',
    repositories: ['.'],
    work: 'pkg/app',
    rules: {
      '.gitignore': '*.log\n/pkg/app/gen\npkg\n',
      'pkg/.gitignore': '*.tmp\n!a.log\n',
      'pkg/app/.gitignore': '*.o\n',
      '.ignore': '*.sec\n',
      '.git/info/exclude': '*.exc\n',
    },
    files: ['a.log', 'b.log', 'x.tmp', 'x.o', 'gen/a', 'src/gen/a', 'a.sec', 'a.exc', 'ok'],
    seen: ['.gitignore', 'a.log', 'src/gen/a', 'ok'],
  },
  {
    name: '.ignore files above the work tree count',
    repositories: ['repo'],
    work: 'repo',
    rules: { '.ignore': '*.sec\n', '.gitignore': '*.log\n' },
    files: ['a.sec', 'a.log'],
    seen: ['a.log'],
  },
  {
    name: 'outside of a repository nothing above counts',
    work: 'w',
    rules: { '.gitignore': '*.log\n', '.ignore': '*.sec\n', 'w/.gitignore': '*.tmp\n' },
    files: ['a.log', 'a.sec', 'a.tmp'],
    seen: ['.gitignore', 'a.log', 'a.sec'],
  },
  {
    name: 'a nested repository begins anew, but for .ignore',
    repositories: ['.', 'nested'],
    rules: {
      '.gitignore': '*.log\n',
      '.ignore': '*.sec\n',
      'nested/.gitignore': '*.tmp\n',
      'nested/.git/info/exclude': '*.exc\n',
      '.git/info/exclude': '*.out\n',
    },
    files: ['a.log', 'nested/a.log', 'nested/a.sec', 'nested/a.tmp', 'nested/a.exc', 'nested/a.out', 'a.out'],
    seen: ['.gitignore', '.ignore', 'nested/.gitignore', 'nested/a.log', 'nested/a.out'],
  },
  {
    name: 'a nested repository outside of any takes what is above',
    repositories: ['nested'],
    rules: { '.gitignore': '*.log\n', 'nested/.gitignore': '*.tmp\n', 'nested/.git/info/exclude': '*.exc\n' },
    files: ['a.log', 'nested/a.log', 'nested/a.tmp', 'nested/a.exc', 'nested/b'],
    seen: ['.gitignore', 'nested/.gitignore', 'nested/b'],
  },
  {
    name: "git's global excludes come last",
    repositories: ['.'],
    global: '*.swp\n*.log\n',
    rules: { '.gitignore': '!a.log\n' },
    files: ['a.swp', 'a.log', 'b.log', 'c'],
    seen: ['.gitignore', 'a.log', 'c'],
  },
  {
    name: 'global excludes without a repository',
    global: '*.swp\n',
    rules: {},
    files: ['a.swp', 'c'],
    seen: ['c'],
  },
  {
    name: 'patterns that make no sense match nothing',
    rules: { '.gitignore': '[z-a]x\n[abc\nfoo\\\n/\n!\nb\n' },
    files: ['x', 'a', '[abc', 'foo', 'b'],
    seen: ['.gitignore', 'x', 'a', '[abc', 'foo'],
  },
];

export interface GrownTree {
  /** The work directory. */
  work: string;
  /** Whether the work directory is in a git work tree. */
  inRepository: boolean;
  /** `HOME` and similar variables, so that git uses the tree's global excludes. */
  env: NodeJS.ProcessEnv;
  seen: string[];
}

/** Writes the tree to a directory that is removed after the test. */
export async function growIgnoreTree(tree: IgnoreTree): Promise<GrownTree> {
  const base = await mkdtemp(join(await realpath(tmpdir()), 'service-code-ignore-'));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const top = join(base, 'top');
  const work = join(top, tree.work ?? '.');
  const home = join(base, 'home');
  const write = async (path: string, text: string) => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  await mkdir(home);
  await mkdir(work, { recursive: true });
  for (const repository of tree.repositories ?? []) {
    await write(join(top, repository, '.git/HEAD'), 'ref: refs/heads/main\n');
  }
  for (const [path, text] of Object.entries(tree.rules)) await write(join(top, path), text);
  for (const path of tree.files) await write(join(work, path), '');
  if (tree.global !== undefined) {
    await write(join(home, '.gitconfig'), '[core]\n\texcludesFile = ~/ignored-everywhere\n');
    await write(join(home, 'ignored-everywhere'), tree.global);
  }
  const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, '.config') };
  const inRepository = (tree.repositories ?? []).some((path) => !path.startsWith('nested'));
  return { work, inRepository, env, seen: tree.seen.toSorted() };
}
