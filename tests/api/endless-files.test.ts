/** Files of a project that never end, or that nobody writes to: in each place where git and ripgrep read one. */
import { execFileSync } from 'node:child_process';
import { appendFile, rm, symlink, writeFile } from 'node:fs/promises';
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

describe('a link to a pipe', () => {
  it.each(['.gitattributes', '.gitmodules'])('as %s does no harm', async (place) => {
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
