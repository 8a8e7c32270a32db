import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Decision } from '#server/permissions/decision.ts';
import type { Access } from '#server/tools/tool.ts';
import { createProject, git, kind, rule } from './decide.ts';
import type { Project, Setup } from './decide.ts';

let space: Project;
let outside: string;
beforeAll(async () => {
  space = await createProject();
  ({ outside } = space);
});
afterAll(() => space.remove());

const ruled = (...args: Parameters<Project['decide']>) => space.decide(...args);
const file = (...args: Parameters<Project['file']>) => space.file(...args);
const search = (...args: Parameters<Project['search']>) => space.search(...args);
const bash = (...args: Parameters<Project['bash']>) => space.bash(...args);
const bare = (...args: Parameters<Project['bare']>) => space.bare(...args);

const modes = ['manual', 'auto', 'yolo'] as const;

describe('modes without rules', () => {
  // Per call: manual, auto, yolo.
  test.each<[string, () => (setup: Setup) => Promise<Decision>, [string, string, string]]>([
    ['Read inside', () => (setup) => file('Read', 'src/a.ts', setup), ['approve', 'approve', 'approve']],
    ['Read outside', () => (setup) => file('Read', join(outside, 'x'), setup), ['ask', 'approve', 'approve']],
    ['Read through a link to outside', () => (setup) => file('Read', 'link/x', setup), ['ask', 'approve', 'approve']],
    ['Grep inside', () => (setup) => search('Grep', 'x', '.', setup), ['approve', 'approve', 'approve']],
    ['Glob outside', () => (setup) => search('Glob', '*', outside, setup), ['ask', 'approve', 'approve']],
    ['Write inside', () => (setup) => file('Write', 'new/b.ts', setup), ['approve', 'approve', 'approve']],
    ['Edit inside', () => (setup) => file('Edit', 'src/a.ts', setup), ['approve', 'approve', 'approve']],
    ['Write outside', () => (setup) => file('Write', join(outside, 'x'), setup), ['ask', 'approve', 'approve']],
    ['Write through a link to outside', () => (setup) => file('Write', 'link/x', setup), ['ask', 'approve', 'approve']],
    ['Write of a sensitive file', () => (setup) => file('Write', '.env', setup), ['ask', 'approve', 'ask']],
    ['Read of a link to a sensitive file', () => (setup) => file('Read', 'innocent', setup), ['ask', 'approve', 'ask']],
    [
      'Grep in .aws/credentials',
      () => (setup) => search('Grep', 'x', '.aws/credentials', setup),
      ['ask', 'approve', 'ask'],
    ],
    ['Read in .git', () => (setup) => file('Read', '.git/config', setup), ['ask', 'approve', 'ask']],
    ['Write in .GIT below', () => (setup) => file('Write', 'sub/.GIT/hooks/x', setup), ['ask', 'approve', 'ask']],
    ['Write through a link to .git', () => (setup) => file('Write', 'alias/hooks/x', setup), ['ask', 'approve', 'ask']],
    [
      'Write in another .git',
      () => (setup) => file('Write', join(outside, '.git/config'), setup),
      ['ask', 'approve', 'ask'],
    ],
    ['Write of .gitignore', () => (setup) => file('Write', '.gitignore', setup), ['approve', 'approve', 'approve']],
    ['Bash', () => (setup) => bash('ls', setup), ['ask', 'approve', 'approve']],
    ['TodoList', () => (setup) => bare('TodoList', setup), ['approve', 'approve', 'approve']],
    ['TaskStop', () => (setup) => bare('TaskStop', setup), ['ask', 'approve', 'approve']],
    ['an MCP tool', () => (setup) => bare('mcp__x__y', setup), ['ask', 'approve', 'approve']],
  ])('%s', async (_name, call, expected) => {
    expect(await Promise.all(modes.map((mode) => kind(call()({ mode }))))).toEqual(expected);
  });
});

describe('modes with rules', () => {
  // Per mode, with rules deny, ask, allow on Bash(ls), in every combination.
  test.each([
    [['deny'], ['deny', 'deny', 'deny']],
    [['ask'], ['ask', 'approve', 'ask']],
    [['allow'], ['approve', 'approve', 'approve']],
    [
      ['deny', 'ask'],
      ['deny', 'deny', 'deny'],
    ],
    [
      ['deny', 'allow'],
      ['deny', 'deny', 'deny'],
    ],
    [
      ['ask', 'allow'],
      ['ask', 'approve', 'ask'],
    ],
    [
      ['deny', 'ask', 'allow'],
      ['deny', 'deny', 'deny'],
    ],
  ] as const)('%j', async (decisions, expected) => {
    const rules = decisions.map((decision) => rule(decision, 'Bash(ls)'));
    for (const order of [rules, rules.toReversed()]) {
      expect(await Promise.all(modes.map((mode) => kind(bash('ls', { mode, rules: order }))))).toEqual(expected);
    }
  });

  test('a remembered rule precedes ask rules, not deny rules', async () => {
    const remembered = [{ rule: 'Bash(ls)', dir: space.environment.cwd }];
    expect(await kind(bash('ls', { remembered }))).toBe('approve');
    expect(await kind(bash('ls', { remembered, rules: [rule('ask', 'Bash')] }))).toBe('approve');
    expect(await kind(bash('ls', { remembered, rules: [rule('deny', 'Bash(l*)')] }))).toBe('deny');
    expect(
      await kind(bash('ls', { rules: [rule('allow', 'Bash', { scope: 'session-runtime' }), rule('ask', 'Bash')] })),
    ).toBe('approve');
  });

  test('an allow rule precedes the checks of sensitive files and of git', async () => {
    expect(await kind(file('Write', '.git/config', { rules: [rule('allow', 'Write(.git/*)')] }))).toBe('approve');
    expect(await kind(file('Write', '.env', { rules: [rule('allow', 'Write(**/.env)')] }))).toBe('approve');
  });

  test('denials carry the reason, approvals the rule to remember', async () => {
    expect((await bash('ls', { rules: [rule('deny', 'Bash', { reason: 'not here' })] })).reason).toContain('not here');
    expect(await bash('rm *')).toMatchObject({ kind: 'ask', rule: { rule: 'Bash(rm \\*)' } });
    expect(await bare('TaskStop')).toMatchObject({ kind: 'ask', rule: { rule: 'TaskStop' } });
    expect(await search('Grep', '', outside)).toEqual({ kind: 'ask', reason: expect.any(String) });
    expect(await bash('ls', { rules: [rule('ask', 'Bash', { reason: 'careful' })] })).toMatchObject({
      reason: 'careful',
    });
  });

  test('tools without a subject match only bare patterns', async () => {
    expect(await kind(bare('TaskStop', { rules: [rule('allow', 'TaskStop(*)')] }))).toBe('ask');
    expect(await kind(bare('TaskStop', { rules: [rule('deny', 'TaskStop(!x)')] }))).toBe('ask');
    expect(await kind(bare('TaskStop', { rules: [rule('allow', 'TaskStop()')] }))).toBe('approve');
    expect(await kind(bare('mcp__a__b', { rules: [rule('deny', 'mcp__a__*')] }))).toBe('deny');
    expect(await kind(bare('mcp__a__b', { rules: [rule('allow', '*')] }))).toBe('approve');
  });

  test('an allow rule of one tool approves no call of another', async () => {
    const rules = ['Read', 'Write(**)', 'Write(ls)', 'mcp__*'].map((pattern) => rule('allow', pattern));
    for (const scope of ['user', 'session-runtime'] as const) {
      const setup = { rules: rules.map((one) => ({ ...one, scope })) };
      expect(await kind(bash('ls', setup))).toBe('ask');
      expect(await kind(bare('TaskStop', setup))).toBe('ask');
      expect(await kind(file('Edit', join(outside, 'x'), setup))).toBe('ask');
      expect(await kind(file('Write', join(outside, 'x'), setup))).toBe('approve');
    }
  });

  test('a command call without a line needs approval', async () => {
    const rules = [rule('allow', 'Bash(*)'), rule('deny', 'Bash(rm *)')];
    expect(await kind(ruled('Bash', { match: 'command' }, [{ kind: 'all' }], { rules }))).toBe('ask');
  });

  test('literal subjects do not match globs', async () => {
    const call = (pattern: string) =>
      kind(ruled('CronCreate', { text: '{"a":"*"}', match: 'literal' }, [], { rules: [rule('allow', pattern)] }));
    expect(await call('CronCreate(*)')).toBe('ask');
    expect(await call('CronCreate({"a":"*"})')).toBe('approve');
    expect(await call('CronCreate(\\{"a":"\\*"\\})')).toBe('approve');
  });
});

describe('paths in rules', () => {
  const denied = (pattern: string, path: string) =>
    kind(file('Read', path, { rules: [rule('deny', `Read(${pattern})`)] }));
  const allowed = (pattern: string, path: string) =>
    kind(file('Write', path, { rules: [rule('allow', `Write(${pattern})`)] }));

  test.each([
    ['src/*', 'src/a.ts'],
    ['./src/a.ts', 'src/a.ts'],
    ['SRC/A.TS', 'src/a.ts'],
    ['**/*.ts', 'src/a.ts'],
    ['src/../src/*', 'src/a.ts'],
    ['!src/b.ts', 'src/a.ts'],
    ['~/x/*', join(homedir(), 'x/y')],
    ['**/secret', '/elsewhere/secret'],
  ])('%j matches %j', async (pattern, path) => {
    expect(await denied(pattern, path)).toBe('deny');
  });

  test.each([
    ['*', 'src/a.ts'],
    ['src', 'src/a.ts'],
    ['!src/**', 'src/a.ts'],
    ['a.ts', 'src/a.ts'],
  ])('%j does not match %j', async (pattern, path) => {
    expect(await denied(pattern, path)).toBe('approve');
  });

  test('a link neither escapes a deny rule nor widens an allow rule', async () => {
    expect(await denied(`${outside}/**`, 'link/x')).toBe('deny');
    expect(await denied('link/**', 'link/x')).toBe('deny');
    expect(await allowed('src/**', 'link/x')).toBe('ask');
    await symlink(outside, space.path('src/out'));
    expect(await allowed('src/**', 'src/out/x')).toBe('ask');
    expect(await allowed(`${outside}/**`, join(outside, 'x'))).toBe('approve');
    // The rule names the link itself, so the target of the link is allowed.
    expect(await allowed('link/**', 'link/x')).toBe('approve');
    expect(await allowed('!src/**', 'link/x')).toBe('approve');
    expect(await allowed(`!${outside}/**`, 'link/x')).toBe('ask');
    // A pattern that begins with `**` applies everywhere, so to the target of a link.
    expect(await allowed('**/*.ts', 'link/x.ts')).toBe('approve');
    expect(await allowed('src/**/*.ts', 'link/x.ts')).toBe('ask');
  });

  test('a workspace reached through a link', async () => {
    const alias = join(space.root, 'alias');
    await symlink(space.environment.cwd, alias);
    const path = join(alias, 'src/a.ts');
    const setup = { places: { cwd: alias }, rules: [rule('allow', 'Write(src/*)'), rule('ask', 'Write(gen/*)')] };
    expect(await kind(file('Write', path, setup))).toBe('approve');
    expect(await kind(file('Write', join(alias, 'gen/x'), setup))).toBe('ask');
    expect(await kind(file('Write', join(alias, 'lib/x'), { places: { cwd: alias } }))).toBe('approve');
  });
});

describe('command lines in rules', () => {
  const gitAndLs = [rule('allow', 'Bash(git *)'), rule('allow', 'Bash(ls*)')];
  test.each([
    ['git status', 'approve'],
    ['git status && ls -l | git log', 'approve'],
    ['git status 2>&1', 'approve'],
    ['git status; rm x', 'ask'],
    ['git status\nrm x', 'ask'],
    ['git status &rm x', 'ask'],
    ['git log $(rm x)', 'ask'],
    ['git log `rm x`', 'ask'],
    ['git log "$(rm x)"', 'ask'],
    ['git diff <(rm x)', 'ask'],
    ['git log > file', 'ask'],
    ['git apply <<E\nx\nE', 'ask'],
    ["git log # '\nrm x # '", 'ask'],
    ['X=1 git status', 'ask'],
    ['if git diff; then git log; fi', 'ask'],
    ['', 'ask'],
    ['# git', 'ask'],
  ])('allow git and ls: %j', async (line, expected) => {
    expect(await kind(bash(line, { rules: gitAndLs }))).toBe(expected);
  });

  test('the bare tool name allows any line', async () => {
    expect(await kind(bash('a > f; $(b)', { rules: [rule('allow', 'Bash')] }))).toBe('approve');
    expect(await kind(bash('a > f; $(b)', { rules: [rule('allow', 'Bash(*)')] }))).toBe('ask');
  });

  test('remembered and configured rules together cover a line', async () => {
    const remembered = [{ rule: 'Bash(npm test)', dir: space.environment.cwd }];
    expect(await kind(bash('npm test && git log', { rules: gitAndLs, remembered }))).toBe('approve');
    expect(await kind(bash('npm test && git log', { remembered }))).toBe('ask');
  });

  test.each([
    'rm -rf /',
    'ls; rm -rf /',
    'ls &&rm -rf x',
    'echo $(rm -rf x)',
    'echo "`rm -rf x`"',
    'if true; then rm -rf x; fi',
    '"rm" -rf x',
    'A=1 rm -rf x',
    '(rm -rf x)',
    'rm -rf x > log',
  ])('deny rm -rf: %j', async (line) => {
    expect(await kind(bash(line, { rules: [rule('deny', 'Bash(rm -rf *)')], mode: 'yolo' }))).toBe('deny');
    expect(await kind(bash(line, { rules: [rule('ask', 'Bash(rm -rf *)'), rule('allow', 'Bash')] }))).toBe('ask');
  });

  test('deny rules match the whole line, too', async () => {
    expect(await kind(bash('curl x | sh', { rules: [rule('deny', 'Bash(curl*|*sh)')] }))).toBe('deny');
  });

  test('a negated rule denies every line that it does not match, and allows none', async () => {
    const onlyGit = [rule('deny', 'Bash(!git *)')];
    expect(await kind(bash('git a && git b', { rules: onlyGit, mode: 'yolo' }))).toBe('approve');
    expect(await kind(bash('git a && ls', { rules: onlyGit, mode: 'yolo' }))).toBe('deny');
    expect(await kind(bash('git a; echo $(git b)', { rules: onlyGit, mode: 'yolo' }))).toBe('deny');
    expect(await kind(bash('ls', { rules: [rule('allow', 'Bash(!rm *)')] }))).toBe('ask');
    expect(await kind(bash('ls', { rules: [rule('allow', 'Bash(!rm *)'), rule('allow', 'Bash(ls)')] }))).toBe(
      'approve',
    );
  });
});

describe('workspace and repository', () => {
  test('additional, session and skill folders', async () => {
    const places = {
      additionalDirs: async () => [join(space.root, 'more')],
      readableDirs: () => Promise.resolve([join(space.root, 'skills')]),
      sessionDir: join(space.root, 'session'),
    };
    const readable = ['more/x', 'skills/x', 'session/tool-results/x'];
    for (const name of readable) expect(await kind(file('Read', join(space.root, name), { places }))).toBe('approve');
    expect(await kind(file('Write', join(space.root, 'more/x'), { places }))).toBe('approve');
    expect(await kind(file('Write', join(space.root, 'session/x'), { places }))).toBe('ask');
    expect(await kind(file('Write', join(space.root, 'skills/x'), { places }))).toBe('ask');
  });

  test('every path is checked', async () => {
    const accesses: Access[] = [
      { kind: 'file', path: space.path('src/a.ts'), mode: 'read' },
      { kind: 'file', path: join(outside, 'x'), mode: 'read' },
    ];
    expect(await kind(ruled('Grep', { text: 'x', match: 'glob' }, accesses))).toBe('ask');
  });

  test('outside of a repository writes ask', async () => {
    await writeFile(join(outside, '.gitignore'), '');
    expect(await kind(file('Write', join(outside, 'x'), { places: { cwd: outside } }))).toBe('ask');
    // An empty .git folder is no repository.
    const fake = join(space.root, 'fake');
    await mkdir(join(fake, '.git'), { recursive: true });
    expect(await kind(file('Write', join(fake, 'x'), { places: { cwd: fake } }))).toBe('ask');
  });

  test('below the top of the work tree, and inside the git directory', async () => {
    const cwd = space.path('src');
    expect(await kind(file('Write', 'src/new.ts', { places: { cwd } }))).toBe('approve');
    expect(await kind(file('Write', 'other.ts', { places: { cwd } }))).toBe('ask');
    expect(await kind(file('Read', '.git/config', { places: { cwd } }))).toBe('ask');
    const hooks = space.path('.git/hooks');
    expect(await kind(file('Write', '.git/hooks/x', { places: { cwd: hooks }, mode: 'yolo' }))).toBe('ask');
  });

  test('linked work trees: both git directories are guarded', async () => {
    const tree = join(space.root, 'tree');
    git(space.environment.cwd, 'worktree', 'add', '-q', tree);
    const places = { cwd: tree };
    expect(await kind(file('Write', join(tree, 'x'), { places }))).toBe('approve');
    for (const path of [join(tree, '.git'), space.path('.git/worktrees/tree/HEAD'), space.path('.git/config')]) {
      expect(await kind(file('Write', path, { places, mode: 'yolo' }))).toBe('ask');
    }
  });

  test('a git directory elsewhere, under any name', async () => {
    const top = join(space.root, 'separate');
    await mkdir(top);
    git(top, 'init', '-q', '--separate-git-dir', join(top, 'store'));
    const places = { cwd: top };
    expect(await kind(file('Write', join(top, 'x'), { places }))).toBe('approve');
    expect(await kind(file('Write', join(top, 'store/config'), { places, mode: 'yolo' }))).toBe('ask');
    git(top, 'commit', '-q', '--allow-empty', '-m', 'first');
    const tree = join(space.root, 'separate-tree');
    git(top, 'worktree', 'add', '-q', tree);
    expect(await kind(file('Write', join(top, 'store/config'), { places: { cwd: tree }, mode: 'yolo' }))).toBe('ask');
  });
});
