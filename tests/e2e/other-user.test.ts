/**
 * The built server as a user with limited file permissions: refusals of the system are reported as such. Root is never
 * refused, and only root may run a server as another user, so otherwise the tests are skipped.
 */
import { chmod, chown, mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sessionSchema } from '#schema/rest/session.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

/** The user `nobody`. */
const OTHER = { uid: 65_534, gid: 65_534 };

describe.runIf(process.getuid?.() === 0)('a server that is not root', () => {
  let base: string;
  let work: string;
  let server: SpawnedServer;
  let id: string;
  beforeAll(async () => {
    base = await temporaryDirectory();
    work = join(base, 'work');
    await chmod(base, 0o755);
    for (const name of ['home', 'work', 'work/mine']) {
      await mkdir(join(base, name));
      await chown(join(base, name), OTHER.uid, OTHER.gid);
    }
    // Owned by root: a file and a directory without read permission, one without write, one without execute permission.
    await writeFile(join(work, 'secret.txt'), 'secret', { mode: 0o600 });
    await mkdir(join(work, 'closed'), { mode: 0o700 });
    await writeFile(join(work, 'closed/inner.txt'), 'inner');
    await mkdir(join(work, 'fixed'), { mode: 0o755 });
    await mkdir(join(work, 'listed'));
    await writeFile(join(work, 'listed/a.txt'), 'a');
    await chmod(join(work, 'listed'), 0o744);
    await writeFile(join(work, 'mine/latin.txt'), Buffer.from('déjà vu', 'latin1'));
    await symlink('closed/inner.txt', join(work, 'to-inner'));
    server = await spawnServer({ home: join(base, 'home'), cwd: work, user: OTHER, env: { HOME: join(base, 'home') } });
    const { data } = await server.api('POST', '/sessions', { metadata: { cwd: work } });
    ({ id } = sessionSchema.parse(data));
  });
  afterAll(async () => {
    await server?.close();
    await rm(base, { recursive: true, force: true });
  });

  const fs = (action: string, body: unknown) => server.api('POST', `/sessions/${id}/fs:${action}`, body);
  const denied = (path: string) => ({ code: 40411, msg: `permission denied: ${path}` });

  it('reads permitted files, and reports the others', async () => {
    expect((await stat(`/proc/${server.process.pid}`)).uid).toBe(OTHER.uid);
    expect(await fs('read', { path: 'mine/latin.txt' })).toMatchObject({ code: 0, data: { content: 'déjà vu' } });
    for (const path of ['secret.txt', 'closed/inner.txt', 'to-inner']) {
      expect(await fs('read', { path })).toMatchObject(denied(path));
      const answer = await server.fetch(`/api/v1/sessions/${id}/fs/${path}:download`);
      expect(await answer.json()).toMatchObject(denied(path));
    }
  });

  it('stats unreadable entries, but none in a directory without execute permission', async () => {
    expect(await fs('stat', { path: 'secret.txt' })).toMatchObject({ code: 0, data: { size: 6 } });
    expect(await fs('stat', { path: 'closed' })).toMatchObject({ code: 0, data: { kind: 'directory' } });
    expect(await fs('stat', { path: 'closed/inner.txt' })).toMatchObject(denied('closed/inner.txt'));
    expect(await fs('stat_many', { paths: ['secret.txt', 'closed/inner.txt'] })).toMatchObject({
      code: 0,
      data: { entries: { 'secret.txt': { size: 6 }, 'closed/inner.txt': null } },
    });
    for (const [action, more] of [['open'], ['reveal'], ['open-in', { app_id: 'finder' }]] as const) {
      expect(await fs(action, { path: 'closed/inner.txt', ...more })).toMatchObject(denied('closed/inner.txt'));
    }
  });

  it('lists around unreadable directories', async () => {
    expect(await fs('list', { path: 'closed' })).toMatchObject(denied('closed'));
    expect(await fs('list', { path: 'listed' })).toMatchObject(denied('listed'));
    const { data } = await fs('list', { depth: 2 });
    const { items, children_by_path } = data as { items: { name: string }[]; children_by_path: object };
    expect(items.map(({ name }) => name)).toEqual(['closed', 'fixed', 'listed', 'mine', 'secret.txt', 'to-inner']);
    expect(Object.keys(children_by_path)).toEqual(['fixed', 'mine']);
    expect(await fs('list_many', { paths: ['closed', 'mine'] })).toMatchObject({
      code: 0,
      data: { results: { mine: [{ name: 'latin.txt' }] }, partial_errors: { closed: denied('closed') } },
    });
  });

  it('creates directories where it has permission', async () => {
    expect(await fs('mkdir', { path: 'mine/new' })).toMatchObject({ code: 0 });
    expect((await stat(join(work, 'mine/new'))).uid).toBe(OTHER.uid);
    for (const [path, recursive] of [
      ['fixed/new', false],
      ['fixed/new/deep', true],
      ['closed/new', true],
    ] as const) {
      expect(await fs('mkdir', { path, recursive })).toMatchObject(denied(path));
    }
  });

  it('adds no directory that it may not stat', async () => {
    const { data } = await server.api('GET', `/sessions/${id}`);
    const { workspace_id } = sessionSchema.parse(data);
    const add = (path: string) => server.api('POST', `/workspaces/${workspace_id}/add-dir`, { path, persist: false });
    expect(await add('closed/deep')).toMatchObject({ code: 40411 });
    expect(await add('mine')).toMatchObject({ code: 0, data: { additional_dirs: [join(work, 'mine')] } });
  });

  it('restricts machine-wide actions, too', async () => {
    const at = (name: string) => join(work, name);
    const get = (action: string, path: string) => server.api('GET', `/fs:${action}?path=${encodeURIComponent(path)}`);
    expect(await get('browse', at('closed'))).toMatchObject(denied(at('closed')));
    expect(await get('browse', work)).toMatchObject({ code: 0 });
    for (const path of [at('secret.txt'), at('closed/inner.txt')])
      expect(await get('content', path)).toMatchObject(denied(path));
    expect(await server.api('POST', '/fs:mkdir', { path: at('fixed/x') })).toMatchObject(denied(at('fixed/x')));
    expect(await server.api('POST', '/fs:mkdir', { path: at('mine/x') })).toMatchObject({ code: 0 });
  });
});
