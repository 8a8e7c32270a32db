/** Files of a project that never end, or that nobody writes to: in each place where git and ripgrep read one. */
import { execFileSync } from 'node:child_process';
import { appendFile, cp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
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
  await repository.write({ a: 'needle\n' });
  await repository.commit();
  await repository.write({ a: 'needle 2\n' });
});

/** Each action with a request, and its reply when nothing is wrong. */
const ACTIONS: [action: string, body: object, data: object][] = [
  ['list', {}, { items: expect.arrayContaining([expect.objectContaining({ path: 'a' })]) }],
  ['search', { query: 'a' }, { items: [expect.objectContaining({ path: 'a' })] }],
  ['grep', { pattern: 'needle' }, { files: [expect.objectContaining({ path: 'a' })] }],
  ['git_status', {}, { branch: 'main', entries: expect.objectContaining({ a: 'modified' }) }],
  ['diff', { path: 'a' }, { diff: expect.stringContaining('+needle 2') }],
];

/** No reply takes that long without waiting for a time-out, on a busy machine too. */
const SOON_MS = 15_000;

/** Sends every request; `refusals` are the messages of the actions that fail. */
async function expectReplies(refusals: Record<string, unknown> = {}): Promise<void> {
  for (const [action, body, data] of ACTIONS) {
    const begun = performance.now();
    const reply = await session.fs(action, body);
    const wanted = action in refusals ? { msg: refusals[action], data: null } : { code: 0, data };
    expect([action, reply]).toMatchObject([action, wanted]);
    expect([action, performance.now() - begun < SOON_MS]).toEqual([action, true]);
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
    'as %s ends the search that reads it, which says so; what reads it otherwise goes on',
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
    'as %s leaves git unavailable, and the rest at work',
    async (place) => {
      await replace(place, '/dev/zero');
      await expectReplies({ git_status: unavailable, diff: unavailable });
    },
  );

  it('as a branch leaves git unavailable', async () => {
    await replace('.git/refs/heads/main', '/dev/zero');
    await expectReplies({ git_status: expect.stringContaining('Out of memory') });
  });
});

describe('a pipe', () => {
  /** Its git and its grep have half a second: what waits for the pipe is given up soon. */
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

  /** Sends the requests that wait for the pipe to the hasty server, the others to the one with all the time. */
  async function expectTimeouts(place: string, waiting: readonly string[]): Promise<void> {
    await rm(hasty.root, { recursive: true, force: true });
    await cp(session.root, hasty.root, { recursive: true });
    for (const { root } of [session, hasty]) {
      await rm(join(root, place), { recursive: true, force: true });
      execFileSync('mkfifo', [join(root, place)]);
    }
    for (const [action, body, data] of ACTIONS) {
      // Ten seconds, in a test of its own.
      if (action === 'search' && waiting.includes('grep')) continue;
      if (waiting.includes(action)) {
        expect([action, await hasty.fs(action, body)]).toMatchObject([action, { msg: TIMED_OUT[action], data: null }]);
      } else {
        expect([action, await session.fs(action, body)]).toMatchObject([action, { code: 0, data }]);
      }
      // No thread of the server waits with the program.
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
  ])('as %s ends what waits for it within its time, and nothing else', expectTimeouts);

  it('as .gitignore ends a search of names, which says that it has not seen all', async () => {
    // Nothing is known of a directory that was never searched before.
    const fresh = await startFilesSession();
    try {
      await writeFile(join(fresh.root, 'a'), '');
      execFileSync('mkfifo', [join(fresh.root, '.gitignore')]);
      expect(await fresh.ok('search', { query: 'a' })).toMatchObject({ truncated: true });
    } finally {
      await fresh.close();
    }
  });

  it('as .git leaves git unavailable, and the rest at work', async () => {
    await rm(join(session.root, '.git'), { recursive: true });
    execFileSync('mkfifo', [join(session.root, '.git')]);
    await expectReplies({ git_status: unavailable, diff: unavailable });
  });

  it.each(['.gitattributes', '.gitmodules'])('that %s links to does no harm', async (place) => {
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
