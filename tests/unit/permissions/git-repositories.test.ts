/** Git repositories that writes would create, and lines that run git in one: git would start unapproved programs. */
import { execFile } from 'node:child_process';
import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { escapeGlob } from '#server/files/globs.ts';
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

  /** Whether git uses the directory as a repository. */
  const isRepository = (directory: string) =>
    execute('git', ['rev-parse', '--git-dir'], { cwd: directory, env: { PATH: process.env.PATH } }).then(
      ({ stdout }) => stdout === '.\n',
      () => false,
    );

  test.each(orders)('sequentially: %s, %s, %s, %s', async (...order) => {
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

  test('by a directory that references another one for its objects', async () => {
    await space.write('v/commondir', '../.git\n');
    expect(await kind(write('v/HEAD'))).toBe('ask');
    expect(await kind(write('v/HEAD', { mode: 'yolo' }))).toBe('ask');
    expect(await kind(write('v/description'))).toBe('approve');
  });

  test('in an existing one: its configuration, its hooks, any other file', async () => {
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

  test('another agent wrote the other files between the decision and the run', async () => {
    const decision = await write('v/HEAD');
    expect(decision.kind).toBe('approve');
    expect(await decision.outdated?.()).toBeUndefined();
    await buildRepository('v', 'HEAD');
    expect(await decision.outdated?.()).toContain('complete a git repository');
  });

  test('ordinary folders with such names are no repositories', async () => {
    await mkdir(space.path('v/objects'), { recursive: true });
    for (const name of ['objects/player.ts', 'refs/index.md', 'config', 'src/HEAD']) {
      expect([name, await kind(write(`v/${name}`))]).toEqual([name, 'approve']);
    }
    // Git stops its search at the top of the work tree.
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

  test('nor does a rule that equals the line, or an approval of this line for the session', async () => {
    const directory = space.path('bare');
    expect(await kind(space.bash('git fetch', { rules: [rule('allow', 'Bash(git fetch)')], directory }))).toBe('ask');
    expect(await kind(space.bash('git a > b', { rules: [rule('allow', 'Bash(git a > b)')], directory }))).toBe('ask');
    const remembered = [{ rule: 'Bash(git fetch)', dir: directory }];
    expect(await kind(space.bash('git fetch', { remembered, directory }))).toBe('ask');
    const scope = 'session-runtime' as const;
    const rememberedRules = [rule('allow', 'Bash(git fetch)', { scope })];
    expect(await kind(space.bash('git fetch', { rules: rememberedRules, directory }))).toBe('ask');
  });

  test('a git directory is a repository too, regardless of its name', async () => {
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
  ])('%j, which names it, is not allowed by the rules', async (line) => {
    expect(await kind(space.bash(line, { rules }))).toBe('ask');
  });

  test('nor does the bare name of the tool', async () => {
    const directory = space.path('bare');
    for (const pattern of ['Bash', '*']) {
      for (const scope of ['user', 'session-runtime'] as const) {
        const bareName = [rule('allow', pattern, { scope })];
        expect(await kind(space.bash('git status', { rules: bareName, directory }))).toBe('ask');
        expect(await space.bash('git status', { rules: bareName })).toMatchObject({
          kind: 'approve',
          explicitGit: true,
        });
        expect(await space.bash('git log > x', { rules: bareName })).toMatchObject({ explicitGit: true });
        for (const line of ['ls', 'a > f; $(b)', 'cd .. && make', 'for (']) {
          expect(await space.bash(line, { rules: bareName })).toMatchObject({ kind: 'approve' });
        }
        expect(await kind(space.bash('make; echo "$(date)"', { rules: bareName, directory }))).toBe('approve');
        const outside = { rules: bareName, directory: space.outside };
        expect(await kind(space.bash('git status', outside))).toBe('approve');
      }
    }
  });

  test.each(['g=git; $g status', '$(echo git) status', '$GIT status', 'echo status | xargs "$GIT"', 'for ('])(
    'nor does a rule that equals %j, which may run git',
    async (line) => {
      const whole = [rule('allow', `Bash(${escapeGlob(line)})`)];
      const directory = space.path('bare');
      expect(await kind(space.bash(line, { rules: whole, directory }))).toBe('ask');
      expect(await kind(space.bash(line, { rules: [rule('allow', 'Bash')], directory }))).toBe('ask');
      expect(
        await kind(space.bash(line, { remembered: [{ rule: whole[0]?.pattern ?? '', dir: directory }], directory })),
      ).toBe('ask');
      // Where git finds no bare repository, programs that run git get their environment unchanged.
      const decision = await space.bash(line, { rules: whole });
      expect(decision).toEqual({ kind: 'approve' });
    },
  );

  test('lines that run no git are approved there, and so are lines that a mode approves', async () => {
    const directory = space.path('bare');
    expect(await kind(space.bash('echo legit; ls', { rules, directory }))).toBe('approve');
    const whole = 'echo "$(date)" > x';
    expect(await kind(space.bash(whole, { rules: [rule('allow', `Bash(${escapeGlob(whole)})`)], directory }))).toBe(
      'approve',
    );
    for (const mode of ['auto', 'yolo'] as const) {
      const decision = await space.bash('git status', { mode, directory });
      expect(decision).toMatchObject({ kind: 'approve' });
      expect(decision.explicitGit).toBeUndefined();
    }
  });

  test('a work tree, a linked one and a submodule are unaffected', async () => {
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

  test('`explicitGit` is set only where a rule approved a line that runs git', async () => {
    expect((await space.bash('git log', { rules })).explicitGit).toBe(true);
    expect((await space.bash('ls', { rules })).explicitGit).toBeUndefined();
    expect((await space.bash('git push', { rules })).explicitGit).toBeUndefined();
    const whole = [rule('allow', 'Bash("g"it log > x)')];
    expect((await space.bash('"g"it log > x', { rules: whole })).explicitGit).toBe(true);
  });

  test('a repository that is created before the line runs', async () => {
    await mkdir(space.path('later'));
    const decision = await space.bash('cd later && git status', { rules });
    expect(decision.kind).toBe('approve');
    await buildRepository('later');
    expect(await decision.outdated?.()).toContain('bare git repository');
  });
});

describe('lines in another repository than that of the working directory', () => {
  const rules = ['git status*', 'git log*', 'git diff*', 'git show*'].map((text) => rule('allow', `Bash(${text})`));
  const status = (directory: string, setup?: Setup) => space.bash('git status', { rules, directory, ...setup });
  let vendor: string;
  beforeEach(async () => {
    vendor = space.path('vendor');
    await rm(vendor, { recursive: true, force: true });
    await mkdir(vendor);
    git(vendor, 'init', '-q');
  });

  test.each([
    ['core.fsmonitor', '../tools/x'],
    ['core.fsmonitor', 'sh ../tools/x'],
    ['core.fsmonitor', '"$(git rev-parse --show-toplevel)"/../tools/x'],
    ['core.fsmonitor', 'cd .. && sh tools/x'],
    ['core.fsmonitor', '$PROJECT/tools/x'],
    ['core.hooksPath', '../.githooks'],
    ['include.path', '../../x.cfg'],
    ['include.path', '<project>/x.cfg'],
  ])('whose %s is %j need approval', async (key, value) => {
    expect(await kind(status(vendor))).toBe('approve');
    expect(await kind(space.bash('cd vendor && git status', { rules }))).toBe('approve');
    git(vendor, 'config', key, value.replace('<project>', space.environment.cwd));
    expect(await kind(status(vendor))).toBe('ask');
    expect(await kind(status(vendor, { remembered: [{ rule: 'Bash(git status)', dir: vendor }], rules: [] }))).toBe(
      'ask',
    );
    expect(await kind(space.bash('cd vendor && git status', { rules }))).toBe('ask');
    expect(await kind(status(space.environment.cwd))).toBe('approve');
    expect(await kind(status(vendor, { rules: [rule('allow', 'Bash')] }))).toBe('approve');
    expect(await kind(space.bash('ls', { rules: [rule('allow', 'Bash(ls)')], directory: vendor }))).toBe('approve');
  });

  test('whose program is a link out of it', async () => {
    await mkdir(join(vendor, 'tools'));
    await symlink('../../src/a.ts', join(vendor, 'tools/x'));
    git(vendor, 'config', 'core.fsmonitor', 'tools/x');
    expect(await kind(write('src/a.ts'))).toBe('approve');
    expect(await kind(status(vendor))).toBe('ask');
  });

  test('whose settings git cannot read', async () => {
    git(vendor, 'config', 'include.path', 'x.cfg');
    await space.write('vendor/.git/x.cfg', '<<<<<<<\n');
    expect(await kind(status(vendor))).toBe('ask');
  });

  test('that git refuses', async () => {
    await rm(join(vendor, '.git'), { recursive: true });
    await space.write('vendor/.git', 'gitdir: ../nowhere\n');
    expect(await kind(status(vendor))).toBe('ask');
  });

  test('where the working directory is in none, so that every write needs approval', async () => {
    const around = await createProject();
    await rename(around.path('.git'), around.path('src/.git'));
    git(around.path('src'), 'config', 'core.fsmonitor', '../tools/x');
    expect(await kind(around.file('Write', 'tools/x'))).toBe('ask');
    expect(await kind(around.bash('git status', { rules, directory: around.path('src') }))).toBe('approve');
    await around.remove();
  });

  test('that is around the working directory, of a directory added to it', async () => {
    const around = await createProject();
    const inner = around.path('inner');
    await mkdir(inner);
    await mkdir(around.path('other'));
    git(inner, 'init', '-q');
    const places = { cwd: inner, additionalDirs: async () => [around.path('other')] };
    const setup = { rules, directory: around.path('other'), places };
    expect(await kind(around.bash('git status', setup))).toBe('approve');
    git(around.environment.cwd, 'config', 'core.fsmonitor', 'inner/tools/x');
    expect(await kind(around.file('Write', 'inner/tools/x', { places }))).toBe('approve');
    expect(await kind(around.bash('git status', setup))).toBe('ask');
    await around.remove();
  });

  test('whose programs are not changed by any unapproved write', async () => {
    const named = {
      'core.fsmonitor': 'tools/x --all',
      'core.hooksPath': '.githooks',
      'include.path': '../x.cfg',
      'core.pager': 'less -R',
      'core.sshCommand': `ssh -F ${space.root}/outside/config`,
      'diff.external': '../.git/hooks/x',
      'alias.up': '!cd .. && ./tools/x',
    };
    for (const [key, value] of Object.entries(named)) git(vendor, 'config', key, value);
    expect(await kind(status(vendor))).toBe('approve');
    for (const path of ['vendor/tools/x', 'vendor/.githooks/y', 'vendor/x.cfg']) {
      expect([path, await kind(write(path))]).toEqual([path, 'ask']);
    }
  });

  test('whose programs the repository of the working directory names, too', async () => {
    const { cwd } = space.environment;
    const hooks = space.path('.husky');
    for (const directory of [cwd, vendor]) {
      git(directory, 'config', 'core.hooksPath', hooks);
      git(directory, 'config', 'core.editor', '$EDITOR_HOME/bin/editor');
    }
    expect(await kind(write('.husky/pre-commit'))).toBe('ask');
    expect(await kind(write('any/bin/editor'))).toBe('ask');
    expect(await kind(status(vendor))).toBe('approve');
    for (const key of ['core.hooksPath', 'core.editor']) git(cwd, 'config', '--unset', key);
  });

  test('with a separate git directory in the workspace', async () => {
    git(vendor, 'init', '-q', '--separate-git-dir', space.path('vendor-store'));
    expect(await kind(write('vendor-store/config'))).toBe('ask');
    expect(await kind(status(vendor))).toBe('approve');
  });
});

describe('lines in which git writes a file', () => {
  const patterns = ['git log*', 'git diff*', 'git show*', 'git format-patch*', 'git archive*', 'git *', 'timeout *'];
  const rules = patterns.map((text) => rule('allow', `Bash(${text})`));

  test.each([
    "git log -1 --format='[core]%n fsmonitor = touch x' --output=.git/config",
    'git log -1 --output .git/config',
    'git log -1 --outpu=.git/config',
    'git log -1 --o=.git/config',
    `git log -1 --out"put"=.git/config`,
    "git log -1 '--output=.git/config'",
    'git log -1 --out\\put=.git/config',
    'git log -1 --out${NONE}put=.git/config',
    'git log -1 --out$1',
    'git log -1 -{-output=.git/config,-stat}',
    'git log -1 {--output=.git/config,--stat}',
    'git log -1 --out{put=.git/config,}',
    'git diff --output=x',
    'git show HEAD --output x',
    'git -P show --output=x',
    'timeout 5 git show --output=x',
    'git status && git diff --output=x',
    'git archive -o x HEAD',
    'git archive -vox HEAD',
    'git format-patch -1 -o .git/hooks',
    'git format-patch -1 --output-directory=.git/hooks',
    'git format-patch -1 --output-d .git/hooks',
  ])('%j needs approval, unless a rule equals the line', async (line) => {
    expect(await kind(space.bash(line, { rules }))).toBe('ask');
    expect(await kind(space.bash(line, { rules: [rule('allow', `Bash(${escapeGlob(line)})`)] }))).toBe('approve');
    expect(await kind(space.bash(line, { remembered: [{ rule: `Bash(${escapeGlob(line)})` }] }))).toBe('approve');
    expect(await kind(space.bash(line, { rules: [rule('allow', 'Bash')] }))).toBe('approve');
  });

  test.each([
    'git log --oneline -5',
    'git log --format=%H --output-indicator-new=x',
    'git log --format={%h,%s}',
    `git log --format='{"commit":"%h","subject":"%s"}'`,
    'git log --stat -- src/output.ts',
    'git log --grep=output',
    'git diff HEAD~1 -- {src,docs}/a.ts',
    'git diff "$BASE" -- *.ts',
    'git show HEAD:src/a.ts',
    'git show stash@{0}',
    'git ls-files -o',
    'git push -o ci.skip origin main',
    'git format-patch -1 --stdout',
    'git checkout --ours a.ts',
    'timeout 5 sort --output=x y',
    'git status && timeout 5 sort --output=x y',
  ])('%j does not', async (line) => {
    expect(await kind(space.bash(line, { rules }))).toBe('approve');
  });

  test('writing a path that a glob would expand to such an option needs approval', async () => {
    for (const path of ['--output=.git/config', 'a/--outpu=b', '--o', '--output-directory=x']) {
      expect([path, await kind(write(path))]).toEqual([path, 'ask']);
      expect([path, await kind(write(path, { mode: 'yolo' }))]).toEqual([path, 'ask']);
    }
    for (const path of ['--one', 'output=x', '--outputs', '-o']) {
      expect([path, await kind(write(path))]).toEqual([path, 'approve']);
    }
  });
});
