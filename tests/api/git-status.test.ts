import { chmod, chown, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { gitStatusReplySchema } from '#schema/rest/git.ts';
import { startFilesSession, type FilesSession } from '#support/files-session.ts';
import { createRepository, type GitRepository } from '#support/git-repository.ts';
import { manualClock } from '#support/manual-clock.ts';

let session: FilesSession;
let repository: GitRepository;
const variables: NodeJS.ProcessEnv = { ...process.env };
const clock = manualClock();

beforeAll(async () => {
  session = await startFilesSession({
    env: () => variables,
    clock,
    mayStall: 'tests check every reply against its schema, 50,000 entries too',
  });
});
afterAll(() => session.close());
beforeEach(async () => {
  await rm(session.root, { recursive: true, force: true });
  repository = await createRepository(session.root);
});

const status = async (body?: unknown) => gitStatusReplySchema.parse(await session.ok('git_status', body));
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}\n`).join('');

describe('entries', () => {
  it('has the status of every kind of change, by unquoted path', async () => {
    await repository.write({
      modified: 'a\n',
      'quoted "name"\t': 'a\n',
      'ünï/中文': 'a\n',
      deleted: 'a\n',
      'deleted in the index': 'of its own\n',
      renamed: lines(20),
      link: 'a\n',
      clean: 'a\n',
      '.gitignore': 'ignored\n',
    });
    await repository.commit();
    await repository.write({
      modified: 'b\n',
      'quoted "name"\t': 'b\n',
      'ünï/中文': 'b\n',
      added: 'new\n',
      'added and changed': 'a\n',
      'ud/deep/file': 'a\n',
      untracked: 'a\n',
      ignored: 'a\n',
    });
    await rm(join(session.root, 'deleted'));
    await rm(join(session.root, 'link'));
    await symlink('clean', join(session.root, 'link'));
    await repository.git('rm', '-q', 'deleted in the index');
    await repository.git('mv', 'renamed', 'new name');
    await repository.git('add', 'added', 'added and changed');
    await repository.write({ 'added and changed': 'b\n' });
    expect(await status()).toEqual({
      branch: 'main',
      ahead: 0,
      behind: 0,
      entries: {
        modified: 'modified',
        'quoted "name"\t': 'modified',
        'ünï/中文': 'modified',
        deleted: 'deleted',
        'deleted in the index': 'deleted',
        'new name': 'renamed',
        link: 'modified',
        added: 'added',
        'added and changed': 'modified',
        'ud/': 'untracked',
        untracked: 'untracked',
      },
      additions: 6,
      deletions: 6,
      pullRequest: null,
    });
  });

  it('reports conflicts of a merge', async () => {
    await repository.write({ both: 'a\n', 'deleted there': 'a\n' });
    await repository.commit();
    await repository.git('checkout', '-q', '-b', 'other');
    await repository.git('rm', '-q', 'deleted there');
    await repository.write({ both: 'other\n', 'added twice': 'other\n' });
    await repository.commit();
    await repository.git('checkout', '-q', 'main');
    await repository.write({ both: 'main\n', 'deleted there': 'main\n', 'added twice': 'main\n' });
    await repository.commit();
    await expect(repository.git('merge', 'other')).rejects.toThrow('Command failed');
    const { entries } = await status();
    expect(entries).toEqual({ both: 'conflicted', 'deleted there': 'conflicted', 'added twice': 'conflicted' });
  });

  it('filters by paths: a file, or everything below a directory', async () => {
    await repository.write({ 'a/x': '1', 'a/y': '1', 'ab/x': '1', b: '1' });
    await repository.commit();
    await repository.write({ 'a/x': '2\n', 'a/y': '2\n', 'ab/x': '2\n', b: '2\n', 'ud/f': '1' });
    const keys = async (paths: string[]) => Object.keys((await status({ paths })).entries);
    expect(await keys(['a'])).toEqual(['a/x', 'a/y']);
    expect(await keys(['./a//y', 'b', 'nowhere'])).toEqual(['a/y', 'b']);
    expect(await keys(['ud'])).toEqual(['ud/']);
    expect(await keys(['.'])).toHaveLength(5);
    expect(await keys([])).toHaveLength(5);
    expect((await status({ paths: ['b'] })).additions).toBe(4);
    expect(await session.fs('git_status', { paths: ['a', '../a'] })).toMatchObject({ code: 41304 });
    expect(await session.fs('git_status', { paths: [''] })).toMatchObject({
      code: 40001,
      details: [{ path: 'paths.0' }],
    });
  });

  it.each<[string, string[], Record<string, string>]>([
    ['the work tree', [], { a: 'a\nb\nc\n', b: '' }],
    ['the index', ['a', 'b'], {}],
    ['both, in other files', ['a'], { b: '' }],
    ['both, in one file', ['a'], { a: 'a\n' }],
  ])('counts lines of changes in %s like a diff against HEAD', async (_name, staged, changed) => {
    await repository.write({ a: 'x\ny\n', b: 'one\ntwo\n', c: 'c\n' });
    await repository.commit();
    await repository.write({ a: 'x\nz\nz\n', b: 'one\n' });
    if (staged.length > 0) await repository.git('add', ...staged);
    await repository.write(changed);
    const numstat = await repository.git('diff', '--numstat', 'HEAD');
    const counts = [...numstat.matchAll(/^(\d+)\t(\d+)\t/gm)];
    const sum = (column: number) => counts.reduce((total, found) => total + Number(found[column]), 0);
    const { additions, deletions } = await status();
    expect({ additions, deletions }).toEqual({ additions: sum(1), deletions: sum(2) });
  });

  it('does not change the index', async () => {
    await repository.write({ a: 'a\n', b: 'b\n' });
    await repository.commit();
    await repository.write({ a: 'a\n', b: 'c\n' });
    const before = await repository.git('ls-files', '--debug');
    await status();
    await session.ok('diff', { path: '.' });
    expect(await repository.git('ls-files', '--debug')).toBe(before);
  });
});

describe('work trees', () => {
  it('a work directory below the top has only its own changes, relative to it', async () => {
    const top = await createRepository(join(session.root, '..', 'top'));
    await top.write({ a: '1', from: lines(20), 'sub dir/b': '1', 'sub dir/c': lines(20) });
    await top.commit();
    await top.write({ a: '2', 'sub dir/b': '2', 'sub dir/new/d': '1' });
    await top.git('mv', 'from', 'sub dir/to');
    await rm(session.root, { recursive: true });
    await symlink('top/sub dir', session.root);
    expect(await status()).toMatchObject({
      entries: { b: 'modified', to: 'added', 'new/': 'untracked' },
      additions: 21,
      deletions: 1,
    });
    await rm(top.root, { recursive: true });
  });

  it('a submodule has a status, derived from its commit and its contents', async () => {
    const other = await createRepository(join(session.outside, 'other'));
    await other.write({ a: '1' });
    await other.commit();
    await repository.git('submodule', '--quiet', 'add', other.root, 'libs/sub');
    await repository.commit();
    expect((await status()).entries).toEqual({});
    await repository.write({ 'libs/sub/a': '2\n' });
    expect((await status()).entries).toEqual({ 'libs/sub': 'modified' });
    await repository.git('-C', 'libs/sub', 'commit', '-q', '-am', 'changed');
    expect((await status()).entries).toEqual({ 'libs/sub': 'modified' });
    await repository.write({ 'libs/sub/a': '3\n' });
    expect((await status()).entries).toEqual({ 'libs/sub': 'modified' });
  });

  it('a linked work tree has a separate branch and separate changes', async () => {
    await repository.write({ a: '1' });
    await repository.commit();
    const { root } = session;
    await rename(root, `${root}-main`);
    await createRepository(`${root}-main`).then((main) => main.git('worktree', 'add', '-q', '-b', 'second', root));
    await repository.write({ a: '2' });
    expect(await status()).toMatchObject({ branch: 'second', entries: { a: 'modified' } });
    await rm(`${root}-main`, { recursive: true });
  });

  it('reports 50,000 changed files', async () => {
    const blob = (await repository.feed('', 'hash-object', '-w', '--stdin')).trim();
    const index = Array.from({ length: 50_000 }, (_, at) => `100644 ${blob}\tdirectory-${at % 500}/${at}.txt\n`).join(
      '',
    );
    await repository.feed(index, 'update-index', '--index-info');
    const { entries } = await status();
    expect(Object.keys(entries)).toHaveLength(50_000);
    expect(entries['directory-499/49999.txt']).toBe('deleted');
  });
});

describe('branch', () => {
  it('is the unborn one before the first commit', async () => {
    await repository.git('checkout', '-q', '-b', 'feature/ö-1');
    await repository.write({ a: lines(3) });
    await repository.git('add', '-A');
    expect(await status()).toMatchObject({
      branch: 'feature/ö-1',
      ahead: 0,
      behind: 0,
      entries: { a: 'added' },
      additions: 0,
      deletions: 0,
    });
  });

  it('is empty on a detached HEAD', async () => {
    await repository.commit();
    await repository.git('checkout', '-q', '--detach');
    expect(await status()).toMatchObject({ branch: '', ahead: 0, behind: 0 });
  });

  it('`ahead` and `behind` count against the upstream', async () => {
    await repository.commit('base');
    const remote = join(session.outside, 'remote');
    await repository.git('clone', '-q', '--bare', session.root, remote);
    await repository.git('remote', 'add', 'origin', remote);
    await repository.git('fetch', '-q', 'origin');
    await repository.git('branch', '-q', '-u', 'origin/main');
    expect(await status()).toMatchObject({ branch: 'main', ahead: 0, behind: 0 });
    for (const name of ['a', 'b', 'c']) await repository.commit(name);
    await repository.git('push', '-q', 'origin', 'main');
    await repository.git('reset', '-q', '--hard', 'HEAD~2');
    await repository.commit('other');
    expect(await status()).toMatchObject({ branch: 'main', ahead: 1, behind: 2 });
    await repository.git('update-ref', '-d', 'refs/remotes/origin/main');
    expect(await status()).toMatchObject({ branch: 'main', ahead: 0, behind: 0 });
  });
});

describe('where git is unavailable', () => {
  const unavailable = (why: RegExp) => ({
    code: 40908,
    msg: expect.stringMatching(new RegExp(`^git unavailable at ${session.root}: .*${why.source}`)),
  });
  const both = async (why: RegExp) => {
    expect(await session.fs('git_status')).toMatchObject(unavailable(why));
    expect(await session.fs('diff', { path: 'a' })).toMatchObject(unavailable(why));
  };

  it('outside of a repository', async () => {
    await rm(join(session.root, '.git'), { recursive: true });
    await both(/not a git repository/);
  });

  it('inside the git directory', async () => {
    await rm(session.root, { recursive: true });
    const other = await createRepository(join(session.outside, 'holder'));
    await symlink(join(other.root, '.git'), session.root);
    await both(/bare repository|not in a work tree/);
    await rm(session.root);
  });

  it('in a broken repository', async () => {
    await repository.write({ a: '1' });
    await repository.commit();
    await writeFile(join(session.root, '.git/index'), 'no index');
    await both(/bad signature|index file/);
    await writeFile(join(session.root, '.git/config'), '[broken');
    await both(/bad config line/);
    await rm(join(session.root, '.git/HEAD'));
    await both(/not a git repository/);
  });

  it.runIf(process.getuid?.() === 0)('in a repository of another user', async () => {
    await chown(session.root, 4711, 4711);
    await both(/dubious ownership/);
  });

  it('without git', async () => {
    variables.PATH = session.outside;
    await both(/git is not installed/);
    variables.PATH = process.env.PATH;
  });
});

describe('pull request', () => {
  /** A `gh` that counts its calls. */
  const install = async (script: string) => {
    const bin = join(session.outside, 'bin');
    await mkdir(bin, { recursive: true });
    await rm(join(bin, 'calls'), { force: true });
    await writeFile(
      join(bin, 'gh'),
      `#!/bin/sh\necho "$GH_PROMPT_DISABLED$GH_NO_UPDATE_NOTIFIER $*" >> ${bin}/calls\n${script}\n`,
    );
    await chmod(join(bin, 'gh'), 0o755);
    variables.PATH = `${bin}${delimiter}${process.env.PATH}`;
    // Expires the cache of earlier tests.
    clock.advance(60_000);
    return () => readFile(join(bin, 'calls'), 'utf8');
  };
  const print = (fields: object) =>
    `echo '${JSON.stringify({ number: 7, url: 'https://x.test/7', state: 'OPEN', isDraft: false, ...fields })}'`;

  it.each([
    [{}, 'open'],
    [{ isDraft: true }, 'draft'],
    [{ state: 'MERGED', isDraft: true }, 'merged'],
    [{ state: 'CLOSED' }, 'closed'],
  ])('%j is %s', async (fields, state) => {
    await install(print(fields));
    expect((await status()).pullRequest).toEqual({ number: 7, url: 'https://x.test/7', state });
  });

  it.each([
    ['an address that is none of the web', print({ url: 'javascript:alert(1)' })],
    ['no number', print({ number: 0 })],
    ['no JSON', 'echo nothing'],
    ['a failure', `${print({})}; exit 1`],
    ['output without end', 'yes'],
  ])('is null for %s', async (_name, script) => {
    await install(script);
    expect((await status()).pullRequest).toBeNull();
  });

  it('is requested once a minute, and again for another branch', async () => {
    const calls = await install(print({}));
    await repository.commit();
    await status();
    await status();
    clock.advance(59_999);
    await status();
    expect(await calls()).toBe('11 pr view --json number,url,state,isDraft\n');
    clock.advance(1);
    await status();
    expect((await calls()).split('\n')).toHaveLength(3);
    await repository.git('checkout', '-q', '-b', 'other');
    await status();
    expect((await calls()).split('\n')).toHaveLength(4);
  });
});
