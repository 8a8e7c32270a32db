/**
 * Rules and command lines, with the real reader: lines that an allow rule must not match, and commands that a deny rule
 * must find.
 */
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PermissionMode } from '#schema/scalars.ts';
import { createProject, kind, rule } from './decide.ts';
import type { Project } from './decide.ts';

let space: Project;
beforeAll(async () => {
  space = await createProject();
  await mkdir(space.path('sub/deep'), { recursive: true });
});
afterAll(() => space.remove());

describe('an allow rule is not extended to', () => {
  const rules = [rule('allow', 'Bash(echo *)'), rule('allow', 'Bash(printf *)'), rule('allow', 'Bash(git *)')];

  test.each([
    `echo '\\044(touch x)'; echo \${_@P}`,
    `printf -v x 'a[\\x24(touch x)]'; echo \${!x}`,
    `printf -v x 'a[$(touch x)]'; echo $x`,
    'echo $(touch x)',
    'echo `touch x`',
    'echo "$(touch x)"',
    'echo <(touch x)',
    'echo a\n\\touch x',
    'echo ==\ntouch x',
    'echo a \\\r\ntouch x',
    'echo a\u000b#b; touch x',
    'git\\\n-x y',
    'echo x > file',
    'echo x >> ~/.bashrc',
    'echo "${a:-$(touch x)}"',
    "echo $'\\x24(touch x)'",
    'X=1 git status',
    'PATH=. git status',
    'git status &&',
    '(git status)',
    '{ git status; }',
    'if git status; then echo x; fi',
    'for a in b; do echo $a; done',
    'echo x; eval y',
    'echo x | sh',
    'git status; cd /; git clean -fdx',
    'git apply <<E\nx\nE',
  ])('%j', async (line) => expect(await kind(space.bash(line, { rules }))).toBe('ask'));

  test.each([
    'echo a; echo b',
    'git status && git log | git cat-file -p x',
    'git status 2>&1',
    'git diff >/dev/null',
    'CI=1 git status',
    'git log --format="%h %s" -- "a b"',
    'true && git status; pwd',
    'set -e; git fetch',
  ])('%j is covered', async (line) => expect(await kind(space.bash(line, { rules }))).toBe('approve'));

  test.each([
    [{ LC_ALL: 'zh_CN.GBK', LANG: 'C.UTF-8' }, 'ask'],
    [{ LC_ALL: '', LANG: 'ja_JP.SJIS' }, 'ask'],
    [{ LANG: 'zh_CN' }, 'ask'],
    [{ LANG: 'zh_CN.GBK', LC_CTYPE: 'C' }, 'approve'],
    [{ LANG: 'de_DE.UTF-8' }, 'approve'],
    [{}, 'approve'],
  ])('characters beyond ASCII are plain where the shell reads them as we do: %j', async (env, expected) => {
    // In GBK the last byte of the character and the backslash form one character, so the quote ends the word.
    const line = 'echo "中\\"\nrm x\n: "';
    expect(await kind(space.bash(line, { rules: [rule('allow', 'Bash(echo *)')], env }))).toBe(expected);
    expect(await kind(space.bash('echo a', { rules: [rule('allow', 'Bash(echo *)')], env }))).toBe('approve');
    expect(await kind(space.bash('echo 中; rm x', { rules: [rule('deny', 'Bash(rm *)')], env }))).toBe('deny');
  });

  test('commands that need no rule still need another reason for approval', async () => {
    expect(await kind(space.bash('pwd'))).toBe('ask');
    expect(await kind(space.bash('pwd', { rules }))).toBe('approve');
  });

  test('quotes without effect are ignored', async () => {
    const exact = [rule('allow', 'Bash(npm run test)')];
    expect(await kind(space.bash(`npm run "test"`, { rules: exact }))).toBe('approve');
    expect(await kind(space.bash(`npm  run\ttest`, { rules: exact }))).toBe('approve');
    expect(await kind(space.bash(`npm run "te st"`, { rules: exact }))).toBe('ask');
  });

  test('a rule that equals the line approves it, regardless of its commands', async () => {
    const whole = [rule('allow', 'Bash(a > f; $(b))')];
    expect(await kind(space.bash('a > f; $(b)', { rules: whole }))).toBe('approve');
    expect(await kind(space.bash('a > f; $(b)', { rules: whole, directory: space.outside }))).toBe('ask');
  });
});

describe('cd at the start', () => {
  const rules = [rule('allow', 'Bash(make)'), rule('allow', 'Bash(cd *)')];

  test.each(['cd sub && make', 'cd ./sub/deep && make', "cd 'sub' && make && make", 'cd sub/.. && make'])(
    '%j stays in the workspace',
    async (line) => expect(await kind(space.bash(line, { rules }))).toBe('approve'),
  );

  test('an absolute directory of the workspace, or of an additional one', async () => {
    expect(await kind(space.bash(`cd ${space.path('sub')} && make`, { rules }))).toBe('approve');
    const line = `cd ${space.outside} && make`;
    expect(await kind(space.bash(line, { rules }))).toBe('ask');
    expect(await kind(space.bash(line, { rules, places: { additionalDirs: async () => [space.outside] } }))).toBe(
      'approve',
    );
  });

  test('back into the workspace from another directory', async () => {
    const setup = { rules, directory: space.outside };
    expect(await kind(space.bash(`cd ${space.environment.cwd} && make`, setup))).toBe('approve');
    expect(await kind(space.bash('make', setup))).toBe('ask');
  });

  test.each([
    'cd / && make',
    'cd .. && make',
    'cd ../outside && make',
    'cd link && make',
    'cd sub/../../outside && make',
    'cd sub; make',
    'cd sub || make',
    'cd nowhere; make',
    'cd && make',
    'cd - && make',
    'cd ~ && make',
    'cd $X && make',
    'cd s* && make',
    'make && cd / && make',
    'pushd / && make',
    'cd sub && cd / && make',
    'command cd / && make',
    'cd -P / && make',
    'cd sub && make; make',
  ])('%j needs approval', async (line) => expect(await kind(space.bash(line, { rules }))).toBe('ask'));

  test('after a link, `..` may be the parent of its target', async () => {
    await mkdir(join(space.outside, 'deep'), { recursive: true });
    await mkdir(join(space.outside, 'src'), { recursive: true });
    await symlink(join(space.outside, 'deep'), space.path('far'));
    // The shell changes to `outside/target` when the working directory has no `target`.
    for (const line of [
      'cd far/../target && make',
      'cd far/../src && make',
      `cd ${space.path('far')}/../src && make`,
    ]) {
      expect([line, await kind(space.bash(line, { rules }))]).toEqual([line, 'ask']);
    }
    await symlink(space.path('sub/deep'), space.path('near'));
    expect(await kind(space.bash('cd near/../../src && make', { rules }))).toBe('ask');
    expect(await kind(space.bash('cd sub/deep/../../src && make', { rules }))).toBe('approve');
  });

  test('a plain name may be resolved by CDPATH', async () => {
    const env = { CDPATH: space.outside };
    expect(await kind(space.bash('cd sub && make', { rules, env }))).toBe('ask');
    expect(await kind(space.bash('cd ./sub && make', { rules, env }))).toBe('approve');
  });

  test('a remembered command is valid in the directory that the line changes to', async () => {
    const sub = space.path('sub');
    const remembered = [{ rule: 'Bash(make)', dir: sub }];
    expect(await kind(space.bash('cd sub && make', { remembered }))).toBe('approve');
    expect(await kind(space.bash('make', { remembered, directory: sub }))).toBe('approve');
    expect(await kind(space.bash('make', { remembered }))).toBe('ask');
    expect(await kind(space.bash('cd sub/deep && make', { remembered }))).toBe('ask');
    const { rule: line } = await space.bash('cd sub && make install');
    expect(line).toEqual({ rule: 'Bash(cd sub && make install)', dir: sub });
    const again = { remembered: line ? [line] : [] };
    expect(await kind(space.bash('cd sub && make install', again))).toBe('approve');
    expect(await kind(space.bash('cd sub && make install', { ...again, directory: space.path('src') }))).toBe('ask');
    await symlink(space.outside, join(space.outside, 'sub'));
    expect(await kind(space.bash('cd sub && make install', { ...again, directory: space.outside }))).toBe('ask');
  });
});

describe('a deny rule finds', () => {
  const deny = [rule('deny', 'Bash(rm *)')];

  test.each([
    'rm x',
    '/bin/rm x',
    'sudo rm x',
    'sudo -u root rm x',
    'env X=1 rm x',
    'X=1 rm x',
    'timeout 5 rm x',
    'bash -c "rm x"',
    "sh -c 'echo a; rm x'",
    'nohup nice -n 5 rm x',
    'find . -exec rm {} +',
    'ls | xargs rm -f',
    '"rm" x',
    'r\\m x',
    'echo $(rm x)',
    'echo "`rm x`"',
    'if true; then rm x; fi',
    'f() { rm x; }; f',
    'rm 2>/dev/null -rf x',
    'eval "rm x"',
    'echo a\n\\rm x',
    'command rm x',
    'exec rm x',
  ])('%j', async (line) => {
    for (const mode of ['manual', 'auto', 'yolo'] as const) {
      expect([mode, await kind(space.bash(line, { rules: deny, mode }))]).toEqual([mode, 'deny']);
    }
    const asking = [rule('ask', 'Bash(rm *)'), rule('allow', 'Bash')];
    expect(await kind(space.bash(line, { rules: asking }))).toBe('ask');
  });

  test.each(['echo rm', 'ls rm x', 'npm run rm', 'rmdir x'])('%j does not contain it', async (line) =>
    expect(await kind(space.bash(line, { rules: deny, mode: 'auto' }))).toBe('approve'),
  );
});

describe('an unreadable line', () => {
  const unreadable = ['$X y', `echo ${'x'.repeat(10_001)}`, 'echo "', `$(echo r)m x`];
  const verdicts = (line: string, rules = [rule('deny', 'Bash(rm *)')]) =>
    Promise.all(
      (['manual', 'auto', 'yolo'] satisfies PermissionMode[]).map((mode) => kind(space.bash(line, { rules, mode }))),
    );

  test.each(unreadable)('needs approval while a rule matches lines, and is denied in auto: %j', async (line) => {
    expect(await verdicts(line)).toEqual(['ask', 'deny', 'ask']);
    expect(await verdicts(line, [rule('ask', 'Bash(rm *)')])).toEqual(['ask', 'deny', 'ask']);
    expect(await verdicts(line, [rule('deny', '*(rm *)')])).toEqual(['ask', 'deny', 'ask']);
    expect(await verdicts(line, [rule('deny', 'Read(x)')])).toEqual(['ask', 'approve', 'approve']);
    expect(await verdicts(line, [])).toEqual(['ask', 'approve', 'approve']);
  });

  test('auto returns the reason', async () => {
    const { reason } = await space.bash('$X y', { rules: [rule('deny', 'Bash(rm *)')], mode: 'auto' });
    expect(reason).toContain('could not be read');
  });

  test('is not approved by an allow rule, but by an approval of this exact line', async () => {
    const rules = [
      rule('deny', 'Bash(rm *)'),
      rule('allow', 'Bash'),
      rule('allow', 'Bash', { scope: 'session-runtime' }),
    ];
    expect(await verdicts('$X y', rules)).toEqual(['ask', 'deny', 'ask']);
    const { rule: line } = await space.bash('$X y', { rules });
    const remembered = line ? [line] : [];
    expect(await kind(space.bash('$X y', { rules, remembered }))).toBe('approve');
    expect(await kind(space.bash('$X z', { rules, remembered }))).toBe('ask');
  });
});
