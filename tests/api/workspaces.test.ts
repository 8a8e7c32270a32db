/** Workspaces over a real server (files.md §2.3, §2.6). */
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { workspaceSchema } from '../../server/schema/workspace.ts';
import { startServer, temporaryDirectory, type TestServer } from '../support/server.ts';
import { connect } from '../support/ws-client.ts';

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
  it('registers a directory with the given or its own name', async () => {
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

  it('follows a link for the check and not for the root', async () => {
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
  it('keeps the order of registration, and directories that went', async () => {
    const names = ['order-z', 'order-a', 'order-m'];
    for (const name of names) await register(await project(name));
    await rm(join(projects, 'order-a'), { recursive: true });
    await register(join(projects, 'order-z'));
    expect((await list()).map(({ name }) => name).filter((name) => name.startsWith('order'))).toEqual(names);
  });

  it('has no row of its own for one workspace', async () => {
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

describe('events', () => {
  it('tell a new workspace and every touch, with the whole object', async () => {
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
