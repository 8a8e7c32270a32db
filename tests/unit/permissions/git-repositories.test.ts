/**
 * Git repositories that writes would build, and lines that run git in one: what git starts there was written unasked.
 */
import { execFile } from 'node:child_process';
import { mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Access } from '#server/tools/tool.ts';
import { createProject, git, kind, rule } from './decide.ts';
import type { Project, Setup } from './decide.ts';

const execute = promisify(execFile);

let space: Project;
beforeAll(async () => (space = await createProject()));
afterAll(() => space.remove());

const write = (path: string, setup?: Setup) => space.file('Write', path, setup);
const permutations = <T>(items: readonly T[]): T[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((first, at) => permutations(items.toSpliced(at, 1)).map((rest) => [first, ...rest]));

/** Builds a bare repository of ordinary files in the project. */
async function buildRepository(name: string, missing?: string): Promise<void> {
  const files = { HEAD: 'ref: refs/heads/main\n', config: '[core]\n\tbare = true\n', 'objects/x': '', 'refs/x': '' };
  for (const [file, text] of Object.entries(files)) {
    if (file !== missing) await space.write(join(name, file), text);
  }
}

describe('writes that build a repository', () => {
  beforeEach(() => rm(space.path('v'), { recursive: true, force: true }));
  const parts = { HEAD: 'ref: refs/heads/main\n', 'objects/info/x': '', 'refs/heads/x': '', config: '[core]\n' };
  const orders = permutations(Object.keys(parts));

  /** Whether git takes the directory for a repository. */
  const isRepository = (directory: string) =>
    execute('git', ['rev-parse', '--git-dir'], { cwd: directory, env: { PATH: process.env.PATH } }).then(
      ({ stdout }) => stdout === '.\n',
      () => false,
    );

  test.each(orders)('one after the other: %s, %s, %s, %s', async (...order) => {
    let asked = false;
    for (const name of order) {
      const verdict = await kind(write(`v/${name}`));
      asked ||= verdict === 'ask';
      if (verdict === 'approve') await space.write(`v/${name}`, parts[name as keyof typeof parts]);
    }
    expect(asked).toBe(true);
    expect(await isRepository(space.path('v'))).toBe(false);
  });

  test.each(orders)('in one response: %s, %s, %s, %s', async (...order) => {
    const admitted: Access[] = [];
    let asked = false;
    for (const name of order) {
      const verdict = await kind(write(`v/${name}`, { admitted }));
      asked ||= verdict === 'ask';
      if (verdict === 'approve') admitted.push({ kind: 'file', path: space.path(`v/${name}`), mode: 'write' });
    }
    expect(asked).toBe(true);
  });

  test('by a directory that names another one for its objects', async () => {
    await space.write('v/commondir', '../.git\n');
    expect(await kind(write('v/HEAD'))).toBe('ask');
    expect(await kind(write('v/HEAD', { mode: 'yolo' }))).toBe('ask');
    expect(await kind(write('v/description'))).toBe('approve');
  });

  test('in one that is there: its configuration, its hooks, whatever is in it', async () => {
    await buildRepository('v');
    for (const name of ['config', 'config.worktree', 'hooks/post-checkout', 'info/attributes', 'refs/heads/y']) {
      expect([name, await kind(write(`v/${name}`))]).toEqual([name, 'ask']);
      expect([name, await kind(write(`v/${name}`, { mode: 'yolo' }))]).toEqual([name, 'ask']);
    }
    expect(await kind(space.file('Edit', 'v/config'))).toBe('ask');
    expect(await kind(space.file('Read', 'v/config'))).toBe('approve');
  });

  test('through a link', async () => {
    await buildRepository('v', 'HEAD');
    await symlink('v', space.path('w'));
    expect(await kind(write('w/HEAD'))).toBe('ask');
    await rm(space.path('w'));
  });

  test('another agent wrote the rest between the decision and the run', async () => {
    const decision = await write('v/HEAD');
    expect(decision.kind).toBe('approve');
    expect(await decision.outdated?.()).toBeUndefined();
    await buildRepository('v', 'HEAD');
    expect(await decision.outdated?.()).toContain('complete a git repository');
  });

  test('ordinary folders with such names are none', async () => {
    await mkdir(space.path('v/objects'), { recursive: true });
    for (const name of ['objects/player.ts', 'refs/index.md', 'config', 'src/HEAD']) {
      expect([name, await kind(write(`v/${name}`))]).toEqual([name, 'approve']);
    }
    // Below the top git looks no further.
    await buildRepository('.', 'HEAD');
    expect(await kind(write('HEAD'))).toBe('approve');
    for (const name of ['objects', 'refs', 'config']) await rm(space.path(name), { recursive: true });
  });
});

describe('lines that run git in a repository', () => {
  const rules = ['git status*', 'git log*', 'git diff*', 'git show*', 'timeout *', 'ls*', 'echo *'].map((text) =>
    rule('allow', `Bash(${text})`),
  );
  beforeAll(async () => {
    await buildRepository('bare');
    await mkdir(space.path('bare/deep'));
  });

  test.each([
    'git status',
    '/usr/bin/git status',
    'git log -1',
    'timeout 5 git diff',
    'ls && git show',
    'ls | git log',
  ])('a rule does not approve %j there', async (line) => {
    const extended = [...rules, rule('allow', 'Bash(/usr/bin/git *)')];
    const run = (setup: Setup) => kind(space.bash(line, { rules: extended, ...setup }));
    expect(await run({})).toBe('approve');
    expect(await run({ directory: space.path('bare') })).toBe('ask');
    expect(await run({ directory: space.path('bare/deep') })).toBe('ask');
    expect(await kind(space.bash(`cd bare && ${line}`, { rules: extended }))).toBe('ask');
    expect(await kind(space.bash(`cd bare/deep && ${line}`, { rules: extended }))).toBe('ask');
  });

  test('nor does a rule that is the line, or an approval of this line for the session', async () => {
    const directory = space.path('bare');
    expect(await kind(space.bash('git fetch', { rules: [rule('allow', 'Bash(git fetch)')], directory }))).toBe('ask');
    expect(await kind(space.bash('git a > b', { rules: [rule('allow', 'Bash(git a > b)')], directory }))).toBe('ask');
    const remembered = [{ rule: 'Bash(git fetch)', dir: directory }];
    expect(await kind(space.bash('git fetch', { remembered, directory }))).toBe('ask');
    const scope = 'session-runtime' as const;
    const rememberedRules = [rule('allow', 'Bash(git fetch)', { scope })];
    expect(await kind(space.bash('git fetch', { rules: rememberedRules, directory }))).toBe('ask');
  });

  test('a git directory is one, too, whatever it is called', async () => {
    expect(await kind(space.bash('git status', { rules, directory: space.path('.git') }))).toBe('ask');
    git(space.environment.cwd, 'init', '-q', '--separate-git-dir', space.path('store'), 'separate');
    expect(await kind(space.bash('git status', { rules, directory: space.path('store') }))).toBe('ask');
    expect(await kind(space.bash('git status', { rules, directory: space.path('separate') }))).toBe('approve');
  });

  test.each([
    'GIT_DIR=bare git status',
    'env GIT_DIR=bare git status',
    'export GIT_DIR=bare; git status',
    'git --git-dir=bare status',
    'git -C bare status',
  ])('%j, which names it, is none of the allowed lines', async (line) => {
    expect(await kind(space.bash(line, { rules }))).toBe('ask');
  });

  test('what runs no git is approved there, and what modes and the bare name approve', async () => {
    const directory = space.path('bare');
    expect(await kind(space.bash('echo legit; ls', { rules, directory }))).toBe('approve');
    for (const mode of ['auto', 'yolo'] as const) {
      const decision = await space.bash('git status', { mode, directory });
      expect(decision).toMatchObject({ kind: 'approve' });
      expect(decision.explicitGit).toBeUndefined();
    }
    const decision = await space.bash('git status', { rules: [rule('allow', 'Bash')], directory });
    expect(decision).toEqual({ kind: 'approve' });
  });

  test('a work tree, a linked one and a submodule are as before', async () => {
    const { cwd } = space.environment;
    git(cwd, 'worktree', 'add', '-q', space.path('linked'));
    const library = join(space.root, 'library');
    await mkdir(library);
    git(library, 'init', '-q');
    git(library, 'commit', '-q', '--allow-empty', '-m', 'first');
    git(cwd, 'submodule', '--quiet', 'add', library, 'sub');
    for (const directory of [cwd, space.path('src'), space.path('linked'), space.path('sub')]) {
      for (const line of ['git status', 'git log --oneline', 'git diff', 'git show HEAD']) {
        const decision = await space.bash(line, { rules, directory });
        expect(decision).toMatchObject({ kind: 'approve', explicitGit: true });
        expect(await decision.outdated?.()).toBeUndefined();
      }
      expect(await kind(write(join(directory, 'new.ts')))).toBe('approve');
    }
  });

  test('the decision knows whether git is kept from searching: only where a rule approved a line that runs it', async () => {
    expect((await space.bash('git log', { rules })).explicitGit).toBe(true);
    expect((await space.bash('ls', { rules })).explicitGit).toBeUndefined();
    expect((await space.bash('git push', { rules })).explicitGit).toBeUndefined();
    const whole = [rule('allow', 'Bash("g"it log > x)')];
    expect((await space.bash('"g"it log > x', { rules: whole })).explicitGit).toBe(true);
  });

  test('a repository that appears before the line runs', async () => {
    await mkdir(space.path('later'));
    const decision = await space.bash('cd later && git status', { rules });
    expect(decision.kind).toBe('approve');
    await buildRepository('later');
    expect(await decision.outdated?.()).toContain('bare git repository');
  });
});
