/** Workspaces over a real server. */
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { sessionSchema } from '#schema/rest/session.ts';
import { workspaceSchema } from '#schema/rest/workspace.ts';
import { startServer, type TestServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import { connect } from '#support/ws-client.ts';

let server: TestServer;
let projects: string;

beforeAll(async () => {
  server = await startServer();
  projects = await temporaryDirectory();
});
afterAll(async () => {
  await server.close();
  await rm(projects, { recursive: true, force: true });
});

async function project(name: string): Promise<string> {
  const path = join(projects, name);
  await mkdir(path, { recursive: true });
  return path;
}

const register = async (root: string, name?: string) =>
  workspaceSchema.parse((await server.api('POST', '/workspaces', { root, ...(name ? { name } : {}) })).data);
const list = async () =>
  z.object({ items: z.array(workspaceSchema) }).parse((await server.api('GET', '/workspaces')).data).items;

describe('POST /workspaces', () => {
  it('registers a directory with the given or the default name', async () => {
    const root = await project('My Proj');
    const made = await register(root);
    expect(made).toEqual({
      id: expect.stringMatching(/^wd_my-proj_[0-9a-f]{12}$/),
      root,
      name: 'My Proj',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      last_opened_at: made.created_at,
      session_count: 0,
    });
    expect(await register(await project('named'), ' A name ')).toMatchObject({ name: ' A name ' });
  });

  it('is idempotent on the root and keeps the name', async () => {
    const root = await project('again');
    const made = await register(root, 'First');
    const again = await register(`${root}/../again/`, 'Second');
    expect(again).toMatchObject({ id: made.id, root, name: 'First', created_at: made.created_at });
    expect(again.last_opened_at >= made.last_opened_at).toBe(true);
    expect((await list()).filter((workspace) => workspace.root === root)).toHaveLength(1);
  });

  it('follows a link for the check but not for the root', async () => {
    const link = join(projects, 'link');
    await symlink(await project('target'), link);
    expect(await register(link)).toMatchObject({ root: link });
  });

  it('checks schema, absolute root, directory, in this order', async () => {
    const file = join(projects, 'file');
    await writeFile(file, '');
    const refused: [body: unknown, answer: Record<string, unknown>][] = [
      [{}, { code: 40001, msg: 'root: Invalid input: expected string, received undefined' }],
      [{ root: '' }, { code: 40001, msg: 'root: Too small: expected string to have >=1 characters' }],
      [
        { root: 'x', name: '' },
        { code: 40001, msg: 'name: Too small: expected string to have >=1 characters' },
      ],
      [
        { root: '/', name: 'x'.repeat(101) },
        { code: 40001, msg: 'name: Too big: expected string to have <=100 characters' },
      ],
      [
        { root: '~/x' },
        {
          code: 40001,
          msg: 'root: root must be an absolute path',
          details: [{ path: 'root', message: 'root must be an absolute path' }],
        },
      ],
      [{ root: `${projects}/gone` }, { code: 40409, msg: `root ${projects}/gone does not exist` }],
      [{ root: file }, { code: 40409, msg: `root ${file} is not a directory` }],
    ];
    const before = await list();
    for (const [body, answer] of refused) {
      expect(await server.api('POST', '/workspaces', body)).toMatchObject({ status: 200, data: null, ...answer });
    }
    expect(await list()).toEqual(before);
  });
});

describe('GET /workspaces', () => {
  it('preserves the order of registration, and includes removed directories', async () => {
    const names = ['order-z', 'order-a', 'order-m'];
    for (const name of names) await register(await project(name));
    await rm(join(projects, 'order-a'), { recursive: true });
    await register(join(projects, 'order-z'));
    expect((await list()).map(({ name }) => name).filter((name) => name.startsWith('order'))).toEqual(names);
  });

  it('has no route for a single workspace', async () => {
    const { id } = await register(await project('single'));
    expect(await server.api('GET', `/workspaces/${id}`)).toMatchObject({ status: 404, code: 40400 });
  });

  it('counts sessions at the time of the reply, archived ones included', async () => {
    const root = await project('counted');
    const ids: string[] = [];
    for (let made = 0; made < 2; made++) {
      const { data } = await server.api('POST', '/sessions', { metadata: { cwd: root } });
      ids.push(z.object({ id: z.string() }).parse(data).id);
    }
    await server.api('POST', `/sessions/${ids[0]}:archive`, {});
    expect((await list()).find((workspace) => workspace.root === root)).toMatchObject({ session_count: 2 });
  });
});

describe('PATCH /workspaces/{id}', () => {
  it('renames, and publishes it', async () => {
    const client = await connect(server);
    const made = await register(await project('renamed'));
    const { data } = await server.api('PATCH', `/workspaces/${made.id}`, { name: 'New name' });
    expect(data).toEqual({ ...made, name: 'New name' });
    const { payload } = await client.waitFor(({ type }) => type === 'event.workspace.updated');
    expect(payload).toMatchObject({ workspace: data, agentId: 'main', sessionId: '__global__' });
    await client.close();
  });

  it('checks id, schema, workspace, in this order', async () => {
    const ill = 'workspace_id must be a wd_<slug>_<hash12> string';
    for (const [id, body, answer] of [
      ['x', {}, { code: 40001, details: [{ path: 'workspace_id', message: ill }] }],
      [
        'wd_x_000000000000',
        { name: '' },
        { code: 40001, msg: 'name: Too small: expected string to have >=1 characters' },
      ],
      ['wd_x_000000000000', { name: 'x'.repeat(101) }, { code: 40001 }],
      ['wd_x_000000000000', { name: 'x' }, { code: 40410, msg: 'workspace wd_x_000000000000 does not exist' }],
    ] as const) {
      expect(await server.api('PATCH', `/workspaces/${id}`, body)).toMatchObject({
        status: 200,
        data: null,
        ...answer,
      });
    }
  });
});

describe('DELETE /workspaces/{id}', () => {
  it('unregisters a single time; files, sessions and trust remain', async () => {
    const client = await connect(server);
    const root = await project('removed');
    const session = sessionSchema.parse((await server.api('POST', '/sessions', { metadata: { cwd: root } })).data);
    const path = `/workspaces/${session.workspace_id}`;
    await server.api('POST', `${path}/trust`);
    expect(await server.api('DELETE', path)).toMatchObject({ code: 0, data: { deleted: true } });
    const { payload, session_id } = await client.waitFor(({ type }) => type === 'event.workspace.deleted');
    expect(session_id).toBe('__global__');
    expect(payload).toEqual({
      type: 'event.workspace.deleted',
      workspace_id: session.workspace_id,
      root,
      agentId: 'main',
      sessionId: '__global__',
    });
    expect(await server.api('DELETE', path)).toMatchObject({ code: 40410 });
    expect((await server.api('DELETE', '/workspaces/x')).code).toBe(40001);
    expect((await list()).filter((workspace) => workspace.root === root)).toEqual([]);
    expect((await server.api('GET', `/sessions/${session.id}`)).data).toMatchObject({ metadata: { cwd: root } });
    expect((await server.api('POST', `/sessions/${session.id}:abort`)).code).toBe(0);
    const again = await register(root);
    expect(again).toMatchObject({ id: session.workspace_id, session_count: 1 });
    expect((await server.api('GET', `${path}/trust`)).data).toEqual({ trusted: true });
    await client.close();
  });

  it('persists over a restart, until a session of it is resumed', async () => {
    const home = await temporaryDirectory();
    const root = await project('removed-for-long');
    const first = await startServer({ home });
    const session = sessionSchema.parse((await first.api('POST', '/sessions', { metadata: { cwd: root } })).data);
    await first.api('DELETE', `/workspaces/${session.workspace_id}`);
    await first.close();
    const second = await startServer({ home });
    const listed = async () => (await second.api('GET', '/workspaces')).data;
    expect(await listed()).toEqual({ items: [] });
    expect((await second.api('GET', `/sessions/${session.id}`)).code).toBe(0);
    expect(await listed()).toEqual({ items: [] });
    await second.api('POST', `/sessions/${session.id}:restore`);
    expect(await listed()).toMatchObject({ items: [{ id: session.workspace_id, root, session_count: 1 }] });
    await second.close();
    await rm(home, { recursive: true, force: true });
  });
});

describe('trust', () => {
  it('is granted and revoked, by the real directory, regardless of the body', async () => {
    const root = await project('trusted');
    await symlink(root, join(projects, 'trusted-link'));
    const { id } = await register(root);
    const link = await register(join(projects, 'trusted-link'));
    const trusted = async (of: string) => (await server.api('GET', `/workspaces/${of}/trust`)).data;
    expect(await trusted(id)).toEqual({ trusted: false });
    for (const body of [undefined, [1]]) {
      expect((await server.api('POST', `/workspaces/${link.id}/trust`, body)).data).toEqual({ trusted: true });
      expect(await trusted(id)).toEqual({ trusted: true });
    }
    for (const body of [undefined, 'x']) {
      expect((await server.api('POST', `/workspaces/${id}/untrust`, body)).data).toEqual({ trusted: false });
      expect(await trusted(link.id)).toEqual({ trusted: false });
    }
    for (const [method, action] of [
      ['GET', 'trust'],
      ['POST', 'trust'],
      ['POST', 'untrust'],
    ] as const) {
      expect((await server.api(method, `/workspaces/x/${action}`)).code).toBe(40001);
      expect((await server.api(method, `/workspaces/wd_x_000000000000/${action}`)).code).toBe(40410);
    }
  });
});

describe('events', () => {
  it('publish a new workspace and every touch, with the whole object', async () => {
    const client = await connect(server);
    const root = await project('told');
    const made = await register(root);
    const again = await register(root);
    const frames = await Promise.all(
      ['event.workspace.created', 'event.workspace.updated'].map((wanted) =>
        client.waitFor(({ type }) => type === wanted),
      ),
    );
    const [created, updated] = [made, again].map((workspace) => ({
      workspace,
      agentId: 'main',
      sessionId: '__global__',
    }));
    expect(frames[0]).toMatchObject({
      session_id: '__global__',
      payload: { type: 'event.workspace.created', ...created },
    });
    expect(frames[1]).toMatchObject({
      session_id: '__global__',
      payload: { type: 'event.workspace.updated', ...updated },
    });
    await client.close();
  });
});

describe('sessions and the registry', () => {
  const registrySchema = z.looseObject({ workspaces: z.record(z.string(), z.json()) });

  /** Edits `workspaces.json` like an older server, another one, or a later version. */
  async function edit(home: string, change: (registry: z.infer<typeof registrySchema>) => void): Promise<void> {
    const file = join(home, 'workspaces.json');
    const registry = registrySchema.parse(JSON.parse(await readFile(file, 'utf8')));
    change(registry);
    await writeFile(file, JSON.stringify(registry));
  }

  const listOf = async (of: TestServer) =>
    z.object({ items: z.array(workspaceSchema) }).parse((await of.api('GET', '/workspaces')).data).items;

  it('a session touches its workspace, also over a restart; reading and naming it does not', async () => {
    const home = await temporaryDirectory();
    const root = await project('touched');
    const first = await startServer({ home });
    await first.api('POST', '/workspaces', { root });
    const [before] = await listOf(first);
    const { data } = await first.api('POST', '/sessions', { metadata: { cwd: root } });
    const { id } = sessionSchema.parse(data);
    const [touched] = await listOf(first);
    expect(touched).toEqual({ ...before, last_opened_at: touched?.last_opened_at, session_count: 1 });
    expect((touched?.last_opened_at ?? '') >= (before?.last_opened_at ?? '')).toBe(true);
    for (const path of ['', '/snapshot', '/status']) await first.api('GET', `/sessions/${id}${path}`);
    await first.api('POST', `/sessions/${id}/profile`, { title: 'x' });
    await first.api('POST', `/sessions/${id}:archive`);
    await first.close();
    const second = await startServer({ home });
    await second.api('POST', `/sessions/${id}:restore`);
    expect(await listOf(second)).toEqual([touched]);
    await second.close();
    await rm(home, { recursive: true, force: true });
  });

  it('an unregistered workspace is restored by the first load of one of its sessions', async () => {
    const home = await temporaryDirectory();
    const root = await project('unregistered');
    const first = await startServer({ home });
    const { data } = await first.api('POST', '/sessions', { metadata: { cwd: root } });
    const session = sessionSchema.parse(data);
    await first.close();
    await edit(home, (registry) => {
      registry.workspaces = {};
      registry.deleted_workspace_ids = [session.workspace_id];
    });
    const second = await startServer({ home });
    const client = await connect(second);
    expect((await second.api('GET', `/sessions/${session.id}`)).data).toEqual(session);
    expect((await second.api('GET', '/sessions')).data).toMatchObject({ items: [{ id: session.id }] });
    expect((await second.api('GET', `/sessions?workspace_id=${session.workspace_id}`)).code).toBe(40410);
    expect((await second.api('POST', '/sessions', { workspace_id: session.workspace_id })).code).toBe(40410);
    expect(await listOf(second)).toEqual([]);
    expect((await second.api('GET', `/sessions/${session.id}/snapshot`)).data).toMatchObject({
      session: { metadata: { cwd: root } },
    });
    // Reads fold the journal; a request that may change something loads the session.
    expect((await second.api('POST', `/sessions/${session.id}:abort`)).code).toBe(0);
    const created = await client.waitFor(({ type }) => type === 'event.workspace.created');
    expect(await listOf(second)).toEqual([created.payload.workspace]);
    expect(created.payload.workspace).toMatchObject({ id: session.workspace_id, root, session_count: 1 });
    await client.close();
    await second.close();
    await rm(home, { recursive: true, force: true });
  });

  it('an id of older data for the same root is an alias of the workspace, in counts, filters and new sessions', async () => {
    const home = await temporaryDirectory();
    const root = await project('aliased');
    const alias = 'wd_aliased_00000000000a';
    const first = await startServer({ home });
    const made = async (of: TestServer, body: object) =>
      sessionSchema.parse((await of.api('POST', '/sessions', body)).data);
    const own = await made(first, { metadata: { cwd: root } });
    await first.close();
    await edit(home, ({ workspaces }) => {
      const entry = workspaces[own.workspace_id];
      if (entry) workspaces[alias] = entry;
      workspaces.nonsense = 1;
    });
    const second = await startServer({ home });
    const through = await made(second, { workspace_id: alias });
    expect(through.workspace_id).toBe(own.workspace_id);
    expect(await listOf(second)).toMatchObject([{ id: own.workspace_id, root, session_count: 2 }]);
    for (const id of [alias, own.workspace_id]) {
      const { data } = await second.api('GET', `/sessions?workspace_id=${id}`);
      expect(z.object({ items: z.array(z.json()) }).parse(data).items).toHaveLength(2);
    }
    await second.close();
    await rm(home, { recursive: true, force: true });
  });

  it('directories that only sessions have are registered on first use', async () => {
    const home = await temporaryDirectory();
    const root = await project('adopted');
    const first = await startServer({ home });
    await first.api('POST', '/sessions', { metadata: { cwd: root } });
    await first.close();
    await rm(join(home, 'workspaces.json'));
    await rm(join(home, 'cache'), { recursive: true });
    const second = await startServer({ home });
    expect(await listOf(second)).toMatchObject([{ root, name: 'adopted', session_count: 1 }]);
    await second.close();
    await rm(home, { recursive: true, force: true });
  });

  it('two servers of a home share the registry', async () => {
    const home = await temporaryDirectory();
    const [one, two] = [await startServer({ home }), await startServer({ home })];
    const root = await project('shared');
    const { data } = await one.api('POST', '/workspaces', { root, name: 'Ours' });
    expect(await listOf(two)).toEqual([data]);
    await two.api('POST', '/sessions', { metadata: { cwd: root } });
    expect(await listOf(one)).toMatchObject([{ name: 'Ours', session_count: 1 }]);
    await Promise.all([one.close(), two.close()]);
    await rm(home, { recursive: true, force: true });
  });
});

it('finds the workspaces again after a restart', async () => {
  const home = await temporaryDirectory();
  const first = await startServer({ home });
  const root = await project('kept');
  const { data } = await first.api('POST', '/workspaces', { root });
  await first.close();
  const second = await startServer({ home });
  expect((await second.api('GET', '/workspaces')).data).toEqual({ items: [data] });
  await second.close();
  await rm(home, { recursive: true, force: true });
});
