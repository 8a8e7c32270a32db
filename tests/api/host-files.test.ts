/** `fs:browse`, `fs:home` and `fs:mkdir` of the machine over a real server. */
import { mkdir, mkdtemp, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '#support/server.ts';

let server: TestServer;
let root: string;
beforeAll(async () => {
  server = await startServer();
  root = await mkdtemp(join(await realpath(tmpdir()), 'service-code-host-'));
});
afterAll(async () => {
  await server.close();
  await rm(root, { recursive: true, force: true });
});

const get = (action: string, path?: string) =>
  server.api('GET', `/fs:${action}${path === undefined ? '' : `?path=${encodeURIComponent(path)}`}`);

describe('fs:browse', () => {
  it('returns real directories, hidden ones last', async () => {
    for (const name of ['b', 'A', '.z', '.a']) await mkdir(join(root, 'dirs', name), { recursive: true });
    await writeFile(join(root, 'dirs/file'), '');
    await symlink('b', join(root, 'dirs/link'));
    await symlink('dirs', join(root, 'to-dirs'));
    const entry = (name: string) => ({ name, path: join(root, 'dirs', name), is_dir: true });
    expect((await get('browse', join(root, 'to-dirs'))).data).toEqual({
      path: join(root, 'dirs'),
      parent: root,
      entries: ['A', 'b', '.a', '.z'].map(entry),
    });
  });

  it('starts at home, and stops at the root', async () => {
    expect((await get('browse')).data).toMatchObject({ path: await realpath(homedir()) });
    expect((await get('browse', '/')).data).toMatchObject({ path: '/', parent: null });
  });

  it('requires a directory', async () => {
    const file = join(root, 'dirs/file');
    for (const path of [file, join(root, 'none')]) {
      expect(await get('browse', path)).toMatchObject({ code: 40409, msg: `path not found: ${path}` });
    }
    expect(await get('browse', '')).toMatchObject({ code: 40001, details: [{ path: 'path' }] });
    for (const path of ['x', '~']) {
      expect(await get('browse', path)).toMatchObject({
        code: 40001,
        details: [{ path: 'path', message: `path must be absolute: ${path}` }],
      });
    }
  });

  it('is matched by one colon, and other actions are not', async () => {
    const message = 'unsupported action: fs:nope';
    expect(await server.api('GET', '/fs:nope')).toMatchObject({
      code: 40001,
      msg: message,
      details: [{ path: '', message }],
    });
    expect(await server.api('POST', '/fs:browse', {})).toMatchObject({ code: 40001 });
    expect(await server.api('GET', '/fs::browse')).toMatchObject({ code: 40400, status: 404 });
    expect(await server.api('PUT', '/fs:browse')).toMatchObject({ code: 40400, status: 404 });
  });
});

describe('fs:home', () => {
  it('returns the workspaces opened last', async () => {
    const roots = Array.from({ length: 9 }, (_, index) => join(root, `ws-${index}`));
    for (const path of roots) {
      await mkdir(path);
      await server.api('POST', '/workspaces', { root: path });
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    const { data } = await get('home');
    expect(data).toEqual({ home: homedir(), recent_roots: roots.toReversed().slice(0, 8) });
  });
});

describe('fs:mkdir', () => {
  const make = (path: string) => server.api('POST', '/fs:mkdir', { path, recursive: true });

  it('creates one directory', async () => {
    const path = `${root}/./made/`;
    expect(await make(path)).toMatchObject({ code: 0, data: { path } });
    expect((await stat(join(root, 'made'))).isDirectory()).toBe(true);
  });

  it('reports why it fails', async () => {
    await writeFile(join(root, 'taken'), '');
    for (const path of [join(root, 'taken'), root]) {
      expect(await make(path)).toMatchObject({ code: 40919, msg: `path already exists: ${path}` });
    }
    for (const path of [join(root, 'no/parent'), join(root, 'taken/x')]) {
      expect(await make(path)).toMatchObject({ code: 40409, msg: `parent path not found: ${path}` });
    }
    expect(await make('relative')).toMatchObject({ code: 40001, details: [{ path: 'path' }] });
  });
});
