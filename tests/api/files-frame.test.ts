/** Common behaviour of all file actions of a session: the order of their checks, and the accepted paths. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFilesSession, type FilesSession } from '#support/files-session.ts';

let session: FilesSession;
beforeAll(async () => {
  session = await startFilesSession();
  const { root, outside } = session;
  await mkdir(join(root, 'src'));
  await writeFile(join(root, 'src/a.ts'), 'a');
  await writeFile(join(outside, 'secret.txt'), 'secret');
  await symlink('src', join(root, 'lnk'));
  await symlink(outside, join(root, 'out'));
  await symlink('nowhere', join(root, 'broken'));
});
afterAll(() => session.close());

describe('order of checks', () => {
  const at = (id: string, action: string, body?: unknown) =>
    session.server.api('POST', `/sessions/${id}/fs:${action}`, body);

  it('validates the action first', async () => {
    expect(await at('none', 'nope', [])).toMatchObject({
      code: 40001,
      msg: 'unsupported action: fs:nope',
      details: [{ path: '', message: 'unsupported action: fs:nope' }],
    });
  });

  it('validates that the body has a runtime_id before it resolves the session', async () => {
    const notObject = 'Invalid input: expected object, received array';
    expect(await at('none', 'stat', [])).toMatchObject({ code: 40001, msg: notObject });
    expect(await at('none', 'stat', { runtime_id: '' })).toMatchObject({
      code: 40001,
      details: [{ path: 'runtime_id' }],
    });
  });

  it('resolves the session, then the runtime, before it validates fields', async () => {
    expect(await at('none', 'stat', { path: 1 })).toMatchObject({ code: 40401, msg: 'session none does not exist' });
    const { data } = await session.server.api('GET', `/sessions/${session.id}`);
    expect(await session.fs('stat', { path: 1, runtime_id: 'x' })).toMatchObject({
      code: 40420,
      msg: `runtime x does not exist in workspace ${(data as { workspace_id: string }).workspace_id}`,
    });
    expect(await session.fs('stat')).toMatchObject({ code: 40001, details: [{ path: 'path' }] });
    expect(await session.fs('stat', { path: '..', runtime_id: 'local' })).toMatchObject({ code: 41304 });
  });
});

describe('paths', () => {
  it.each([
    ['/', 'path "/" rejected (empty)'],
    ['/etc', 'path "/etc" rejected (absolute)'],
    ['src/../src/a.ts', 'path "src/../src/a.ts" rejected (dotdot segment)'],
    ['src\\..\\a.ts', 'path "src\\..\\a.ts" rejected (dotdot segment)'],
    ['out', 'path "out" escapes workspace through a symlink'],
    ['out/secret.txt', 'path "out/secret.txt" escapes workspace through a symlink'],
    ['./out/missing', 'path "./out/missing" escapes workspace through a symlink'],
  ])('%s is refused', async (path, msg) => {
    expect(await session.fs('stat', { path })).toMatchObject({ code: 41304, msg });
  });

  it('refuses an absolute path inside too, and reports a NUL character at its field', async () => {
    expect(await session.fs('stat', { path: join(session.root, 'src') })).toMatchObject({ code: 41304 });
    expect(await session.fs('stat', { path: 'a\0b' })).toMatchObject({ code: 40001, details: [{ path: 'path' }] });
  });

  it('follows links that stay inside, and returns their spelling', async () => {
    expect(await session.ok('stat', { path: './lnk//a.ts' })).toMatchObject({
      path: 'lnk/a.ts',
      kind: 'file',
      size: 1,
    });
    expect(await session.ok('stat', { path: 'lnk' })).toMatchObject({ kind: 'symlink', is_symlink_to: 'src' });
  });

  it('returns a broken link', async () => {
    expect(await session.ok('stat', { path: 'broken' })).toMatchObject({ kind: 'symlink', is_symlink_to: 'nowhere' });
  });

  it('does not find a missing path or one below a file', async () => {
    for (const path of ['missing', 'src/a.ts/x', 'broken/x']) {
      expect(await session.fs('stat', { path })).toMatchObject({ code: 40409, msg: `path not found: ${path}` });
    }
  });
});
