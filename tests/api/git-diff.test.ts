import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gitDiffSchema } from '#schema/rest/git.ts';
import { startFilesSession, type FilesSession } from '#support/files-session.ts';
import { createRepository, type GitRepository } from '#support/git-repository.ts';

let session: FilesSession;
let repository: GitRepository;
beforeAll(async () => {
  session = await startFilesSession();
});
afterAll(() => session.close());
beforeEach(async () => {
  await rm(session.root, { recursive: true, force: true });
  repository = await createRepository(session.root);
});

const diff = async (path: string) => gitDiffSchema.parse(await session.ok('diff', { path }));
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}\n`).join('');

describe('tracked files', () => {
  it('compares index and work tree together with HEAD', async () => {
    await repository.write({ 'a/ünï': 'one\ntwo\n', other: 'x\n' });
    await repository.commit();
    await repository.write({ 'a/ünï': 'one\n2\n', other: 'y\n' });
    await repository.git('add', '-A');
    await repository.write({ 'a/ünï': 'one\n3\n' });
    const { diff: text, truncated } = await diff('./a//ünï');
    expect(text.replace(/^index .*\n/m, '')).toBe(
      'diff --git a/a/ünï b/a/ünï\n--- a/a/ünï\n+++ b/a/ünï\n@@ -1,2 +1,2 @@\n one\n-two\n+3\n',
    );
    expect(truncated).toBe(false);
  });

  it('is empty for a file that is unchanged, ignored, or only touched', async () => {
    await repository.write({ a: 'a\n', '.gitignore': 'ignored\n' });
    await repository.commit();
    await repository.write({ a: 'a\n', ignored: 'x\n' });
    for (const path of ['a', 'ignored', '.']) expect(await diff(path)).toEqual({ path, diff: '', truncated: false });
  });

  it('a deleted file is a deletion, a renamed one an addition and a deletion', async () => {
    await repository.write({ gone: 'x\n', from: lines(20) });
    await repository.commit();
    await rm(join(session.root, 'gone'));
    await repository.git('mv', 'from', 'to');
    expect((await diff('gone')).diff).toContain('\n+++ /dev/null\n');
    expect((await diff('from')).diff).toContain('\n+++ /dev/null\n');
    expect((await diff('to')).diff).toContain('\n--- /dev/null\n+++ b/to\n');
    expect((await diff('.')).diff).not.toContain('rename');
  });

  it('a directory has all tracked changes below it', async () => {
    await repository.write({ 'src/a': '1\n', 'src/deep/b': '1\n', c: '1\n' });
    await repository.commit();
    await repository.write({ 'src/a': '2\n', 'src/deep/b': '2\n', c: '2\n', 'src/new': '1\n' });
    const names = async (path: string) =>
      [...(await diff(path)).diff.matchAll(/^diff --git a\/(\S+)/gm)].map(([, name]) => name);
    expect(await names('src')).toEqual(['src/a', 'src/deep/b']);
    expect(await names('.')).toEqual(['c', 'src/a', 'src/deep/b']);
  });

  it('headers contain the path in the repository, regardless of its configuration', async () => {
    await repository.write({ 'sub/a': '1\n' });
    await repository.commit();
    await repository.write({ 'sub/a': '2\n' });
    for (const [key, value] of [
      ['diff.noprefix', 'true'],
      ['diff.mnemonicPrefix', 'true'],
      ['diff.relative', 'true'],
      ['diff.context', '0'],
      ['color.ui', 'always'],
      ['diff.wordRegex', '.'],
      ['diff.orderFile', '/nonexistent'],
    ] as const) {
      await repository.git('config', key, value);
    }
    await mkdir(join(session.root, '..', 'top'));
    await rm(join(session.root, '..', 'top'), { recursive: true });
    const created = await session.server.api('POST', '/sessions', { metadata: { cwd: join(session.root, 'sub') } });
    const { id } = created.data as { id: string };
    const { data } = await session.server.api('POST', `/sessions/${id}/fs:diff`, { path: 'a' });
    expect(gitDiffSchema.parse(data).diff).toMatch(/^diff --git a\/sub\/a b\/sub\/a\n/);
  });

  it('follows links that stay inside, and returns a link as its text', async () => {
    await repository.write({ 'src/a': '1\n' });
    await symlink('src', join(session.root, 'lnk'));
    await symlink('a', join(session.root, 'src/to-a'));
    await repository.commit();
    await repository.write({ 'src/a': '2\n' });
    await rm(join(session.root, 'src/to-a'));
    await symlink('b', join(session.root, 'src/to-a'));
    expect(await diff('lnk/a')).toMatchObject({ path: 'lnk/a', diff: expect.stringContaining('+++ b/src/a\n') });
    expect((await diff('src/to-a')).diff).toContain('-a\n\\ No newline at end of file\n+b\n');
  });
});

describe('untracked files', () => {
  it.each<[string, string | Uint8Array]>([
    ['text', 'one\ntwo\n'],
    ['one line', 'one\n'],
    ['no end of line', 'one\ntwo'],
    ['empty', ''],
    ['empty lines', '\n\n\n'],
    ['with space', 'é\n'],
    ['we"ird\t\\name', 'x\n'],
    ['binary', new Uint8Array([1, 0, 2])],
    ['windows', 'a\r\nb\r\n'],
  ])('%j is a whole file as git prints it', async (name, content) => {
    await repository.commit();
    await repository.write({ [name]: content });
    const { diff: text } = await diff(name);
    await repository.git('add', '-A');
    const expected = await repository.git('-c', 'core.quotePath=false', 'diff', '--cached');
    expect(text).toBe(expected.replace(/^index .*\n/m, ''));
  });

  it('preserves the mode, returns a link as its text, and an empty diff for a pipe', async () => {
    await repository.commit();
    await repository.write({ script: '#!/bin/sh\n' });
    await chmod(join(session.root, 'script'), 0o755);
    await symlink('script', join(session.root, 'link'));
    await promisify(execFile)('mkfifo', [join(session.root, 'pipe')]);
    expect((await diff('script')).diff).toContain('new file mode 100755\n');
    expect((await diff('link')).diff).toContain(
      'new file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+script\n\\',
    );
    expect((await diff('pipe')).diff).toBe('');
  });

  it('before the first commit every file is new', async () => {
    await repository.write({ staged: 'a\n', 'untracked/b': 'b\n' });
    await repository.git('add', 'staged');
    expect((await diff('staged')).diff).toContain('+++ b/staged\n@@ -0,0 +1 @@\n+a\n');
    expect((await diff('untracked/b')).diff).toContain('+++ b/untracked/b\n');
    expect((await diff('.')).diff).toContain('+++ b/staged\n');
    expect(await session.fs('diff', { path: 'nothing' })).toMatchObject({ code: 40409 });
  });
});

it('a path that neither exists nor changed is not found; links out are refused before git runs', async () => {
  await repository.commit();
  expect(await session.fs('diff', { path: 'a/b' })).toMatchObject({ code: 40409, msg: 'path not found: a/b' });
  await writeFile(join(session.outside, 'secret'), 'secret');
  await symlink(session.outside, join(session.root, 'out'));
  await rm(join(session.root, '.git'), { recursive: true });
  expect(await session.fs('diff', { path: 'out/secret' })).toMatchObject({ code: 41304 });
  expect(await session.fs('diff', { path: 'out' })).toMatchObject({ code: 41304 });
  expect(await session.fs('diff', { path: 'a/b' })).toMatchObject({ code: 40908 });
});

describe('large diffs', () => {
  const bytes = (text: string) => Buffer.byteLength(text);

  it.each([0, 1, 2])('are truncated at 1 MiB and at a character boundary (%i)', async (shift) => {
    await repository.write({ a: 'x\n' });
    await repository.commit();
    await repository.write({
      a: `${'x'.repeat(shift)}${'中'.repeat(400_000)}\n`,
      b: `${'x'.repeat(shift)}${'中'.repeat(400_000)}\n`,
    });
    for (const path of ['a', 'b']) {
      const found = await diff(path);
      expect(found.truncated).toBe(true);
      expect(bytes(found.diff)).toBeLessThanOrEqual(1_048_576);
      expect(bytes(found.diff)).toBeGreaterThan(1_048_573);
      expect(found.diff).not.toContain('\uFFFD');
    }
  });

  it('are complete at exactly 1 MiB', async () => {
    await repository.commit();
    await repository.write({ a: '' });
    const head = bytes('diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+\n');
    await repository.write({ a: `${'x'.repeat(1_048_576 - head)}\n` });
    const whole = await diff('a');
    expect(whole.truncated).toBe(false);
    expect(bytes(whole.diff)).toBe(1_048_576);
    await writeFile(join(session.root, 'a'), `x${await readFile(join(session.root, 'a'), 'utf8')}`);
    expect((await diff('a')).truncated).toBe(true);
  });
});

describe('marks in lists', () => {
  const marks = async (body: object) => {
    const { items } = (await session.ok('list', { include_git_status: true, ...body })) as {
      items: { path: string; git_status?: string }[];
    };
    return Object.fromEntries(items.map(({ path, git_status }) => [path, git_status]));
  };

  it('include files, and directories with changes below them', async () => {
    await repository.write({
      clean: '1',
      changed: '1',
      'dir/deep/changed': '1',
      'dir/clean': '1',
      'still/clean': '1',
      'emptied/a': '1',
      'emptied/b': '1',
      '.gitignore': 'build/\n*.log\n',
    });
    await repository.commit();
    await repository.write({
      changed: '2',
      'dir/deep/changed': '2',
      'new/a/b': '1',
      'build/out/x': '1',
      'still/a.log': '1',
    });
    await rm(join(session.root, 'emptied/a'));
    expect(await marks({ follow_gitignore: false })).toEqual({
      build: 'ignored',
      dir: 'modified',
      emptied: 'modified',
      new: 'untracked',
      still: 'clean',
      changed: 'modified',
      clean: 'clean',
    });
    expect(await marks({ path: 'dir' })).toEqual({ 'dir/deep': 'modified', 'dir/clean': 'clean' });
    expect(await marks({ path: 'still', follow_gitignore: false })).toEqual({
      'still/a.log': 'ignored',
      'still/clean': 'clean',
    });
    expect(await marks({ path: 'new' })).toEqual({ 'new/a': 'untracked' });
    expect(await marks({ path: 'build/out', follow_gitignore: false })).toEqual({ 'build/out/x': 'ignored' });
  });

  it("are those of a link's target directory", async () => {
    await repository.write({ 'dir/a': '1', 'dir/b': '1' });
    await symlink('dir', join(session.root, 'lnk'));
    await repository.commit();
    await repository.write({ 'dir/a': '2' });
    expect(await marks({ path: 'lnk' })).toEqual({ 'lnk/a': 'modified', 'lnk/b': 'clean' });
  });

  it('a conflict takes precedence over a change', async () => {
    await repository.write({ 'd/a': 'a\n', 'd/b': '1' });
    await repository.commit();
    await repository.git('checkout', '-q', '-b', 'other');
    await repository.write({ 'd/a': 'other\n' });
    await repository.commit();
    await repository.git('checkout', '-q', 'main');
    await repository.write({ 'd/a': 'main\n' });
    await repository.commit();
    await expect(repository.git('merge', 'other')).rejects.toThrow('Command failed');
    await repository.write({ 'd/b': '2' });
    expect(await marks({})).toEqual({ d: 'conflicted' });
    expect(await marks({ path: 'd' })).toEqual({ 'd/a': 'conflicted', 'd/b': 'modified' });
  });

  it('are absent outside of a repository', async () => {
    await rm(join(session.root, '.git'), { recursive: true });
    await repository.write({ a: '1' });
    expect(await marks({})).toEqual({ a: undefined });
  });
});
