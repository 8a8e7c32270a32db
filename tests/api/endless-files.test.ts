/** Files of a project that never end or block, at each path that git and ripgrep read. */
import { execFileSync } from 'node:child_process';
import { appendFile, cp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startFilesSession, type FilesSession } from '#support/files-session.ts';
import { createRepository, type GitRepository } from '#support/git-repository.ts';
import { eventually } from '#support/patience.ts';

let session: FilesSession;
let repository: GitRepository;
beforeAll(async () => {
  session = await startFilesSession();
});
afterAll(() => session.close());
beforeEach(async () => {
  await rm(session.root, { recursive: true, force: true });
  repository = await createRepository(session.root);
  await repository.write({ a: 'needle\n' });
  await repository.commit();
  await repository.write({ a: 'needle 2\n' });
});

/** Each action with a request and its successful reply. */
const ACTIONS: [action: string, body: object, data: object][] = [
  ['list', {}, { items: expect.arrayContaining([expect.objectContaining({ path: 'a' })]) }],
  ['search', { query: 'a' }, { items: [expect.objectContaining({ path: 'a' })] }],
  ['grep', { pattern: 'needle' }, { files: [expect.objectContaining({ path: 'a' })] }],
  ['git_status', {}, { branch: 'main', entries: expect.objectContaining({ a: 'modified' }) }],
  ['diff', { path: 'a' }, { diff: expect.stringContaining('+needle 2') }],
];

/** No reply takes that long unless it waits for a time-out, even on a busy machine. */
const SOON_MS = 60_000;

/** Sends every request; `refusals` contains the messages of the actions that must fail. */
async function expectReplies(refusals: Record<string, unknown> = {}): Promise<void> {
  for (const [action, body, data] of ACTIONS) {
    const wanted = action in refusals ? { msg: refusals[action], data: null } : { code: 0, data };
    // The first search of a tree is incomplete where ripgrep has not reached its memory limit within 10 s.
    await eventually(async () => {
      const begun = performance.now();
      const reply = await session.fs(action, body);
      expect([action, performance.now() - begun < SOON_MS]).toEqual([action, true]);
      expect([action, reply]).toMatchObject([action, wanted]);
    });
  }
}

async function replace(place: string, target: string): Promise<void> {
  const path = join(session.root, place);
  await rm(path, { recursive: true, force: true });
  await symlink(target, path);
}

const unavailable = expect.stringMatching(/^git unavailable at .*: \S/);

describe('a link to an endless device', () => {
  it.each(['.gitignore', '.ignore', '.git/info/exclude'])(
    'as %s stops the searches that read it, with an error; other actions work',
    async (place) => {
      await replace(place, '/dev/zero');
      await expectReplies({ grep: 'The search needed more than 1 GiB of memory and was stopped.' });
    },
  );

  it.each(['.gitmodules', '.gitattributes', '.git/packed-refs'])('as %s does no harm', async (place) => {
    await replace(place, '/dev/zero');
    await expectReplies();
  });

  it.each(['.git', '.git/config', '.git/index', '.git/HEAD', '.git/info/attributes'])(
    'as %s makes git unavailable; other actions work',
    async (place) => {
      await replace(place, '/dev/zero');
      await expectReplies({ git_status: unavailable, diff: unavailable });
    },
  );

  it('as a branch makes git unavailable', async () => {
    await replace('.git/refs/heads/main', '/dev/zero');
    // On a busy machine git is stopped before it has read so much.
    await expectReplies({ git_status: expect.stringMatching(/Out of memory|more than 30 s/) });
  });
});

describe('a pipe', () => {
  /** Time-outs of 0.5 s for git and grep, for requests that wait for the pipe. */
  let hasty: FilesSession;
  beforeAll(async () => {
    hasty = await startFilesSession({ fileTimeouts: { gitMs: 500, grepMs: 500 } });
  });
  afterAll(() => hasty.close());

  const TIMED_OUT: Record<string, unknown> = {
    git_status: expect.stringContaining('it took more than 0.5 s'),
    diff: expect.stringContaining('it took more than 0.5 s'),
    grep: 'grep timed out after 500ms',
  };

  /** Sends the requests that wait for the pipe to the hasty server, the others to the one with long time-outs. */
  async function expectTimeouts(place: string, waiting: readonly string[]): Promise<void> {
    await rm(hasty.root, { recursive: true, force: true });
    await cp(session.root, hasty.root, { recursive: true });
    for (const { root } of [session, hasty]) {
      await rm(join(root, place), { recursive: true, force: true });
      execFileSync('mkfifo', [join(root, place)]);
    }
    for (const [action, body, data] of ACTIONS) {
      // Takes ten seconds; another test covers it.
      if (action === 'search' && waiting.includes('grep')) continue;
      if (waiting.includes(action)) {
        expect([action, await hasty.fs(action, body)]).toMatchObject([action, { msg: TIMED_OUT[action], data: null }]);
      } else {
        expect([action, await session.fs(action, body)]).toMatchObject([action, { code: 0, data }]);
      }
      // The waiting program occupies no thread of the server.
      expect(await hasty.server.api('GET', '/meta')).toMatchObject({ code: 0 });
    }
  }

  it.each<[place: string, waiting: string[]]>([
    ['.gitignore', ['grep', 'git_status']],
    ['.ignore', ['grep']],
    ['.git/info/exclude', ['grep', 'git_status', 'diff']],
    ['.git/config', ['git_status', 'diff']],
    ['.git/index', ['git_status', 'diff']],
    ['.git/HEAD', ['git_status', 'diff']],
    ['.git/commondir', ['git_status', 'diff']],
  ])('as %s times out the actions that read it, and no others', expectTimeouts);

  it('as .gitignore ends a search of names, which is reported as truncated', async () => {
    // A new directory is not indexed yet.
    const fresh = await startFilesSession();
    try {
      await writeFile(join(fresh.root, 'a'), '');
      execFileSync('mkfifo', [join(fresh.root, '.gitignore')]);
      expect(await fresh.ok('search', { query: 'a' })).toMatchObject({ truncated: true });
    } finally {
      await fresh.close();
    }
  });

  it('as .git makes git unavailable; other actions work', async () => {
    await rm(join(session.root, '.git'), { recursive: true });
    execFileSync('mkfifo', [join(session.root, '.git')]);
    await expectReplies({ git_status: unavailable, diff: unavailable });
  });

  it.each(['.gitattributes', '.gitmodules'])('as the target of the link %s does no harm', async (place) => {
    execFileSync('mkfifo', [join(session.outside, 'pipe')]);
    await replace(place, join(session.outside, 'pipe'));
    await expectReplies();
    await rm(join(session.outside, 'pipe'));
  });
});

describe('a file of 300 MB', () => {
  it('is searched, listed and compared', async () => {
    const line = `${'a line of some length, as text has it, '.repeat(4)}\n`;
    const piece = line.repeat(Math.floor(1_000_000 / line.length));
    const path = join(session.root, 'large.txt');
    await writeFile(path, '');
    for (let n = 0; n < 300; n += 1) await appendFile(path, piece);
    await repository.commit();
    await appendFile(path, 'the needle of it\n');
    expect(await session.ok('search', { query: 'large' })).toMatchObject({ items: [{ path: 'large.txt' }] });
    expect(await session.ok('grep', { pattern: 'needle of it' })).toMatchObject({ files: [{ path: 'large.txt' }] });
    expect(await session.ok('git_status')).toMatchObject({
      entries: { 'large.txt': 'modified' },
      additions: 1,
      deletions: 0,
    });
  });
});
