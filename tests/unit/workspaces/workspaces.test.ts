import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLogger } from '#server/logging/log.ts';
import { workspaceSchema, type Workspace } from '#schema/workspace.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { createWorkspaces } from '#server/workspaces/workspaces.ts';
import { manualClock } from '#support/manual-clock.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { openIndex, sessionRow } from '../sessions/index-fixtures.ts';

/** Of all servers here. */
const clock = manualClock();

/** A server's registry over `home`, with the events it published. */
function openWorkspaces(home: string) {
  const { index } = openIndex(home);
  const events: { type: string; workspace: Workspace }[] = [];
  const workspaces = createWorkspaces({
    documents: createDocuments({ home }),
    index,
    log: createLogger('silent'),
    clock,
    publish: (type, { workspace }) => void events.push({ type, workspace: workspaceSchema.parse(workspace) }),
  });
  onTestFinished(() => workspaces.close());
  return { workspaces, index, events };
}

const document = (home: string) => join(home, 'workspaces.json');
const stored = async (home: string) => JSON.parse(await readFile(document(home), 'utf8'));

describe('registering', () => {
  it('adds a root once, writes it, then says so', async () => {
    const home = await temporaryHome();
    const { workspaces, events } = openWorkspaces(home);
    const made = await workspaces.register('/x//WsOne/./sub/..');
    expect(made).toMatchObject({ root: '/x/WsOne', name: 'WsOne', session_count: 0 });
    expect(made.id).toMatch(/^wd_wsone_[0-9a-f]{12}$/);
    expect(made.last_opened_at).toBe(made.created_at);
    expect(events).toEqual([{ type: 'event.workspace.created', workspace: made }]);
    expect(await stored(home)).toEqual({
      version: 1,
      workspaces: {
        [made.id]: { root: '/x/WsOne', name: 'WsOne', created_at: made.created_at, last_opened_at: made.created_at },
      },
      deleted_workspace_ids: [],
    });
  });

  it('touches a known root and keeps its name', async () => {
    const { workspaces, events } = openWorkspaces(await temporaryHome());
    const made = await workspaces.register('/x/a', 'Mine');
    clock.advance(1);
    const again = await workspaces.register('/x/a/', 'Other');
    expect(again).toMatchObject({ id: made.id, name: 'Mine', created_at: made.created_at });
    expect(again.last_opened_at > made.last_opened_at).toBe(true);
    expect(events.map(({ type }) => type)).toEqual(['event.workspace.created', 'event.workspace.updated']);
    expect(await workspaces.list()).toEqual([again]);
  });

  it('keeps the order of registration', async () => {
    const { workspaces } = openWorkspaces(await temporaryHome());
    for (const root of ['/z', '/a', '/m']) await workspaces.register(root);
    await workspaces.register('/z');
    expect((await workspaces.list()).map(({ root }) => root)).toEqual(['/z', '/a', '/m']);
  });

  it('takes a link to a root for another workspace', async () => {
    const home = await temporaryHome();
    await mkdir(join(home, 'dir'));
    await symlink(join(home, 'dir'), join(home, 'link'));
    const { workspaces } = openWorkspaces(home);
    const [one, two] = [await workspaces.register(join(home, 'dir')), await workspaces.register(join(home, 'link'))];
    expect(one.id).not.toBe(two.id);
  });

  it('makes concurrent calls for one root one workspace', async () => {
    const { workspaces, events } = openWorkspaces(await temporaryHome());
    const made = await Promise.all(Array.from({ length: 8 }, () => workspaces.register('/x/a')));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(events.filter(({ type }) => type === 'event.workspace.created')).toHaveLength(1);
  });

  it('takes an id out of the removed ones', async () => {
    const home = await temporaryHome();
    const first = openWorkspaces(home);
    const { id } = await first.workspaces.register('/x/a');
    await writeFile(
      document(home),
      JSON.stringify({ version: 1, workspaces: {}, deleted_workspace_ids: [id, 'wd_b_000000000000'] }),
    );
    await expect(first.workspaces.get(id)).rejects.toMatchObject({ code: 40410 });
    await first.workspaces.register('/x/a');
    expect((await stored(home)).deleted_workspace_ids).toEqual(['wd_b_000000000000']);
  });
});

describe('reading', () => {
  it('answers 40410 for what is not registered', async () => {
    const { workspaces } = openWorkspaces(await temporaryHome());
    const refused = { code: 40410, message: 'workspace wd_x_000000000000 does not exist' };
    await expect(workspaces.get('wd_x_000000000000')).rejects.toMatchObject(refused);
    await expect(workspaces.touch('wd_x_000000000000')).rejects.toMatchObject(refused);
    await expect(workspaces.aliases('wd_x_000000000000')).rejects.toMatchObject(refused);
  });

  it('counts the sessions of all aliases at the time of the reply', async () => {
    const home = await temporaryHome();
    const { workspaces, index } = openWorkspaces(home);
    const { id } = await workspaces.register('/x/a');
    const alias = 'wd_old_00000000000a';
    index.upsert(sessionRow('s1', { workspaceId: id, cwd: '/x/a' }), 0);
    index.upsert(sessionRow('s2', { workspaceId: alias, cwd: '/x/a/', archived: true }), 0);
    expect(await workspaces.get(id)).toMatchObject({ session_count: 2 });
    expect((await workspaces.aliases(id)).sort()).toEqual([id, alias].sort());
    expect(await workspaces.aliases(alias)).toEqual(await workspaces.aliases(id));
    expect(await workspaces.get(alias)).toMatchObject({ id });
  });

  it('shows entries with one root key as one', async () => {
    const home = await temporaryHome();
    const times = { created_at: '2026-01-01T00:00:00.000Z', last_opened_at: '2026-01-01T00:00:00.000Z' };
    const entries = {
      wd_proj_00000000000a: { root: 'C:\\Work\\Proj', name: 'first', ...times },
      wd_proj_00000000000b: { root: 'c:/work/proj', name: 'second', ...times },
      wd_proj_00000000000c: { root: '/Work/Proj', name: 'upper', ...times },
      wd_proj_00000000000d: { root: '/work/proj', name: 'lower', ...times },
    };
    await writeFile(document(home), JSON.stringify({ version: 1, workspaces: entries, deleted_workspace_ids: [] }));
    const { workspaces } = openWorkspaces(home);
    expect((await workspaces.list()).map(({ name }) => name)).toEqual(['first', 'upper', 'lower']);
    expect(await workspaces.aliases('wd_proj_00000000000b')).toEqual(['wd_proj_00000000000a', 'wd_proj_00000000000b']);
  });

  it('skips entries that make no sense, and refuses a document that makes none', async () => {
    const home = await temporaryHome();
    const { workspaces } = openWorkspaces(home);
    const { id } = await workspaces.register('/x/a');
    const registry = await stored(home);
    registry.workspaces = { ...registry.workspaces, bad: registry.workspaces[id], wd_c_00000000000c: { root: 3 } };
    await writeFile(document(home), JSON.stringify(registry));
    expect((await workspaces.list()).map((workspace) => workspace.id)).toEqual([id]);
    for (const text of ['{ not JSON', '{"version":2,"workspaces":{}}']) {
      await writeFile(document(home), text);
      await expect(workspaces.register('/x/b')).rejects.toMatchObject({ code: 50003 });
      expect(await readFile(document(home), 'utf8')).toBe(text);
    }
  });

  it('adds the directories of known sessions at the first use, but not removed ones', async () => {
    const home = await temporaryHome();
    const { workspaces, index, events } = openWorkspaces(home);
    await index.ready();
    index.upsert(sessionRow('s1', { workspaceId: 'wd_one_000000000001', cwd: '/projects/one' }), 0);
    index.upsert(sessionRow('s2', { workspaceId: 'wd_rel_000000000002', cwd: 'relative' }), 0);
    index.upsert(sessionRow('s3', { workspaceId: 'wd_del_000000000003', cwd: '/projects/deleted' }), 0);
    await writeFile(
      document(home),
      JSON.stringify({ version: 1, workspaces: {}, deleted_workspace_ids: ['wd_del_000000000003'] }),
    );
    expect((await workspaces.list()).map(({ root, name, session_count }) => [root, name, session_count])).toEqual([
      ['/projects/one', 'one', 1],
    ]);
    expect(Object.values((await stored(home)).workspaces)).toHaveLength(1);
    expect(events).toEqual([]);
  });
});

describe('touching', () => {
  it('tells at once and writes within 250 ms', async () => {
    const home = await temporaryHome();
    const { workspaces, events } = openWorkspaces(home);
    const made = await workspaces.register('/x/a');
    clock.advance(1);
    const touched = await workspaces.touch(made.id);
    expect(touched.last_opened_at > made.last_opened_at).toBe(true);
    expect(events.at(-1)).toEqual({ type: 'event.workspace.updated', workspace: touched });
    expect((await stored(home)).workspaces[made.id].last_opened_at).toBe(made.last_opened_at);
    expect(await workspaces.get(made.id)).toEqual(touched);
    clock.advance(250);
    await vi.waitFor(async () =>
      expect((await stored(home)).workspaces[made.id].last_opened_at).toBe(touched.last_opened_at),
    );
  });

  it('is not lost at the stop', async () => {
    const home = await temporaryHome();
    const { workspaces } = openWorkspaces(home);
    const { id } = await workspaces.register('/x/a');
    clock.advance(1);
    const { last_opened_at } = await workspaces.touch(id);
    await workspaces.close();
    expect((await stored(home)).workspaces[id].last_opened_at).toBe(last_opened_at);
  });
});

describe('two servers of one home', () => {
  it('see and keep what the other registered', async () => {
    const home = await temporaryHome();
    const [one, two] = [openWorkspaces(home).workspaces, openWorkspaces(home).workspaces];
    const a = await one.register('/x/a');
    const b = await two.register('/x/b');
    await one.register('/x/c');
    expect((await two.list()).map(({ root }) => root)).toEqual(['/x/a', '/x/b', '/x/c']);
    expect(await one.get(b.id)).toEqual(b);
    expect(await two.get(a.id)).toEqual(a);
  });

  it('keep the later time when both touch', async () => {
    const home = await temporaryHome();
    const [one, two] = [openWorkspaces(home).workspaces, openWorkspaces(home).workspaces];
    const { id } = await one.register('/x/a');
    clock.advance(1);
    await one.touch(id);
    clock.advance(1);
    const { last_opened_at } = await two.touch(id);
    await two.close();
    await one.close();
    expect((await stored(home)).workspaces[id].last_opened_at).toBe(last_opened_at);
  });
});
