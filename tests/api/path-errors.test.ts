/** Link loops, and names and paths that are too long, in every action that accepts a path. */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFilesSession, type FilesSession } from '#support/files-session.ts';
import { createRepository } from '#support/git-repository.ts';

let session: FilesSession;
beforeAll(async () => {
  session = await startFilesSession();
  const { root, outside } = session;
  const repository = await createRepository(root);
  await repository.write({ 'folder/a.txt': 'a', [`${LONGEST}/b.txt`]: 'b' });
  await repository.commit();
  await symlink('loop', join(root, 'loop'));
  await symlink('there', join(root, 'back'));
  await symlink('back', join(root, 'there'));
  await symlink('folder', join(root, 'link'));
  await symlink(outside, join(root, 'out'));
  await symlink('loop', join(outside, 'loop'));
});
afterAll(() => session.close());

const TOO_LONG = 'x'.repeat(256);
/** The longest valid name. */
const LONGEST = 'y'.repeat(255);

const LOOPS = ['loop/a.txt', 'there/a.txt', 'loop/folder/a.txt'];
const LONG = [TOO_LONG, `folder/${TOO_LONG}`, `${TOO_LONG}/a.txt`, 'z/'.repeat(3000), 'q'.repeat(90_000)];

const notFound = (path: string) => ({ code: 40409, msg: `path not found: ${path}` });
const tooLong = (path = 'path') => ({ code: 40001, details: [{ path, message: 'path is too long' }] });

async function download(path: string): Promise<unknown> {
  const answer = await session.server.fetch(`/api/v1/sessions/${session.id}/fs/${path}:download`);
  return answer.json();
}
const actions: Record<string, (path: string) => Promise<unknown>> = {
  ...Object.fromEntries(
    ['list', 'read', 'stat', 'diff', 'open', 'reveal'].map((action) => [
      action,
      (path: string) => session.fs(action, { path }),
    ]),
  ),
  'open-in': (path) => session.fs('open-in', { path, app_id: 'vscode' }),
  download,
};

describe.each(Object.entries(actions))('%s', (name, act) => {
  it('does not find a path through a link loop', async () => {
    for (const path of LOOPS) expect(await act(path)).toMatchObject(notFound(path));
  });

  it('refuses names and paths that are too long', async () => {
    // The HTTP server refuses a URL of that length earlier.
    for (const path of LONG.filter((path) => name !== 'download' || path.length < 300)) {
      expect(await act(path)).toMatchObject(tooLong());
    }
  });

  it('reveals nothing about paths outside', async () => {
    for (const path of ['out/loop/a.txt', `out/${TOO_LONG}`, `out/${'z/'.repeat(3000)}`]) {
      if (name === 'download' && path.length > 300) continue;
      expect(await act(path)).toMatchObject({ code: 41304 });
    }
  });
});

describe('list_many', () => {
  it('reports the error for each path', async () => {
    const paths = ['folder', 'loop', 'loop/a', TOO_LONG];
    expect(await session.ok('list_many', { paths })).toMatchObject({
      results: { folder: [{ path: 'folder/a.txt' }] },
      partial_errors: {
        loop: notFound('loop'),
        'loop/a': notFound('loop/a'),
        [TOO_LONG]: { code: 40001, msg: 'path: path is too long' },
      },
    });
  });
});

describe('stat_many', () => {
  it('has null for a loop, and refuses names that are too long', async () => {
    const paths = ['folder/a.txt', 'loop/a', 'loop'];
    expect(await session.ok('stat_many', { paths })).toEqual({
      entries: {
        'folder/a.txt': expect.objectContaining({ kind: 'file' }),
        'loop/a': null,
        loop: expect.objectContaining({ kind: 'symlink', is_symlink_to: 'loop' }),
      },
    });
    expect(await session.fs('stat_many', { paths: ['folder', TOO_LONG] })).toMatchObject(tooLong('paths.1'));
  });
});

describe('git_status', () => {
  it('has no entry for a loop, and refuses names that are too long', async () => {
    expect(await session.ok('git_status', { paths: ['loop/a', 'loop'] })).toMatchObject({
      entries: { loop: 'untracked' },
    });
    expect(await session.fs('git_status', { paths: ['folder', TOO_LONG] })).toMatchObject(tooLong('paths.1'));
    expect(await session.fs('git_status', { paths: ['out/loop/a'] })).toMatchObject({ code: 41304 });
  });
});

describe.each([false, true])('mkdir, recursive: %s', (recursive) => {
  const make = (path: string) => session.fs('mkdir', { path, recursive });

  it('refuses a parent in a loop; the loop itself already exists', async () => {
    for (const path of LOOPS) expect(await make(path)).toMatchObject({ code: 40409, msg: `parent not found: ${path}` });
    expect(await make('loop')).toMatchObject({ code: 40919 });
  });

  it('refuses names that are too long', async () => {
    for (const path of [TOO_LONG, `folder/${TOO_LONG}`, `${TOO_LONG}/a`]) {
      expect(await make(path)).toMatchObject(tooLong());
    }
    expect(await make(`out/${TOO_LONG}`)).toMatchObject({ code: 41304 });
  });
});

describe('actions of the machine', () => {
  const at = (path: string) => `${session.root}/${path}`;
  const get = (action: string) => (path: string) =>
    session.server.api('GET', `/fs:${action}?path=${encodeURIComponent(path)}`);
  const mkdir = (path: string) => session.server.api('POST', '/fs:mkdir', { path });

  it.each([
    ['browse', get('browse')],
    ['content', get('content')],
  ])('fs:%s', async (_name, act) => {
    for (const path of ['loop', ...LOOPS].map(at)) expect(await act(path)).toMatchObject(notFound(path));
    for (const path of [TOO_LONG, `folder/${TOO_LONG}`, `${TOO_LONG}/a`]) {
      expect(await act(at(path))).toMatchObject(tooLong());
    }
  });

  it('fs:mkdir', async () => {
    for (const path of LOOPS.map(at)) {
      expect(await mkdir(path)).toMatchObject({ code: 40409, msg: `parent path not found: ${path}` });
    }
    expect(await mkdir(at('loop'))).toMatchObject({ code: 40919 });
    for (const path of LONG.map(at)) expect(await mkdir(path)).toMatchObject(tooLong());
  });
});

it('resolvable links and names of maximum length work', async () => {
  const read = await session.ok('read', { path: 'link/a.txt' });
  expect(read).toMatchObject({ content: 'a' });
  expect(await session.ok('read', { path: `${LONGEST}/b.txt` })).toMatchObject({ content: 'b' });
  expect(await session.ok('list', { path: LONGEST })).toMatchObject({ items: [{ name: 'b.txt' }] });
  expect(await session.ok('mkdir', { path: `folder/${LONGEST}` })).toMatchObject({ kind: 'directory' });
});
