import { once } from 'node:events';
import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '#server/logging/log.ts';
import type { Workspace } from '#schema/rest/workspace.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { createRegistryWriter } from '#server/workspaces/registry-document.ts';
import { createWorkspaces } from '#server/workspaces/workspaces.ts';
import { manualClock } from '#support/manual-clock.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { eventually } from '#support/patience.ts';
import { buildProgram, startProgram } from '#support/programs.ts';
import { createRobbedLock } from '#support/robbed-lock.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { openIndex, sessionRow } from '../sessions/index/index-fixtures.ts';

/** The clock of all servers. */
const clock = manualClock();

/** Opens a server's registry over `home`, with the events it published. */
function openWorkspaces(home: string, { robbed = false } = {}) {
  const { index } = openIndex(home);
  const events: { type: string; workspace?: Workspace }[] = [];
  const documents = createDocuments({ home });
  const writer = createRegistryWriter(documents);
  const path = join(home, 'workspaces.json.lock');
  const workspaces = createWorkspaces({
    documents,
    lock: robbed ? createRobbedLock(path, writer) : createChangeLock({ path, holder: leaseHolder(), writer }),
    index,
    log: createLogger('silent'),
    clock,
    publish: (type, fields) => void events.push({ type, ...fields }),
  });
  onTestFinished(() => workspaces.close());
  return { workspaces, index, events };
}

const document = (home: string) => join(home, 'workspaces.json');
const stored = async (home: string) => JSON.parse(await readFile(document(home), 'utf8'));

describe('registering', () => {
  it('adds a root a single time, writes it, then publishes the event', async () => {
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

  it('touches a registered root and keeps its name', async () => {
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

  it('treats a link to a root as another workspace', async () => {
    const home = await temporaryHome();
    await mkdir(join(home, 'dir'));
    await symlink(join(home, 'dir'), join(home, 'link'));
    const { workspaces } = openWorkspaces(home);
    const [one, two] = [await workspaces.register(join(home, 'dir')), await workspaces.register(join(home, 'link'))];
    expect(one.id).not.toBe(two.id);
  });

  it('creates one workspace for concurrent calls with one root', async () => {
    const { workspaces, events } = openWorkspaces(await temporaryHome());
    const made = await Promise.all(Array.from({ length: 8 }, () => workspaces.register('/x/a')));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(events.filter(({ type }) => type === 'event.workspace.created')).toHaveLength(1);
  });

  it('removes an id from the deleted ones', async () => {
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
  it('throws `workspace.not_found` for an unregistered id', async () => {
    const { workspaces } = openWorkspaces(await temporaryHome());
    const refused = { code: 40410, message: 'workspace wd_x_000000000000 does not exist' };
    await expect(workspaces.get('wd_x_000000000000')).rejects.toMatchObject(refused);
    await expect(workspaces.rename('wd_x_000000000000', 'x')).rejects.toMatchObject(refused);
    await expect(workspaces.unregister('wd_x_000000000000')).rejects.toMatchObject(refused);
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

  it('returns entries with one root key as one', async () => {
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

  it('skips invalid entries, and refuses an invalid document', async () => {
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

  it('adds the directories of indexed sessions on first use, except removed ones', async () => {
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
  it('publishes immediately and writes within 250 ms', async () => {
    const home = await temporaryHome();
    const { workspaces, events } = openWorkspaces(home);
    const made = await workspaces.register('/x/a');
    clock.advance(1);
    const touched = await workspaces.register('/x/a');
    expect(touched.last_opened_at > made.last_opened_at).toBe(true);
    expect(events.at(-1)).toEqual({ type: 'event.workspace.updated', workspace: touched });
    expect((await stored(home)).workspaces[made.id].last_opened_at).toBe(made.last_opened_at);
    expect(await workspaces.get(made.id)).toEqual(touched);
    clock.advance(250);
    await eventually(async () =>
      expect((await stored(home)).workspaces[made.id].last_opened_at).toBe(touched.last_opened_at),
    );
  });

  it('is written on close', async () => {
    const home = await temporaryHome();
    const { workspaces } = openWorkspaces(home);
    const { id } = await workspaces.register('/x/a');
    clock.advance(1);
    const { last_opened_at } = await workspaces.register('/x/a');
    await workspaces.close();
    expect((await stored(home)).workspaces[id].last_opened_at).toBe(last_opened_at);
  });
});

describe('renaming', () => {
  it('changes only the name, and publishes an unchanged name again', async () => {
    const home = await temporaryHome();
    const { workspaces, events } = openWorkspaces(home);
    const made = await workspaces.register('/x/a');
    clock.advance(1);
    const renamed = await workspaces.rename(made.id, ' New ');
    expect(renamed).toEqual({ ...made, name: ' New ' });
    expect(await workspaces.rename(made.id, ' New ')).toEqual(renamed);
    expect(events.slice(1)).toEqual([1, 2].map(() => ({ type: 'event.workspace.updated', workspace: renamed })));
    expect((await stored(home)).workspaces[made.id].name).toBe(' New ');
  });

  it('resolves an alias to the workspace', async () => {
    const { workspaces, index } = openWorkspaces(await temporaryHome());
    const { id } = await workspaces.register('/x/a');
    index.upsert(sessionRow('s1', { workspaceId: 'wd_old_00000000000a', cwd: '/x/a/' }), 0);
    expect(await workspaces.rename('wd_old_00000000000a', 'New')).toMatchObject({ id, name: 'New' });
  });
});

describe('unregistering', () => {
  it('removes the entries of the root and prevents all its ids from being added again', async () => {
    const home = await temporaryHome();
    const { workspaces, index, events } = openWorkspaces(home);
    const { id, root } = await workspaces.register('/x/a');
    const other = await workspaces.register('/x/b');
    const registry = await stored(home);
    registry.workspaces.wd_second_00000000000b = { ...registry.workspaces[id], root: '/x/a/' };
    await writeFile(document(home), JSON.stringify(registry));
    index.upsert(sessionRow('s1', { workspaceId: 'wd_old_00000000000a', cwd: '/x/a' }), 0);
    await workspaces.register('/x/a');
    await workspaces.unregister('wd_old_00000000000a');
    expect(events.at(-1)).toEqual({ type: 'event.workspace.deleted', workspace_id: 'wd_old_00000000000a', root });
    const after = await stored(home);
    expect(Object.keys(after.workspaces)).toEqual([other.id]);
    expect(after.deleted_workspace_ids.sort()).toEqual([id, 'wd_old_00000000000a', 'wd_second_00000000000b'].sort());
    await expect(workspaces.unregister(id)).rejects.toMatchObject({ code: 40410 });
    // Neither pending writes nor a start restore it.
    await workspaces.close();
    expect(await openWorkspaces(home).workspaces.list()).toEqual([other]);
  });

  it('assigns new times and the default name to a root that is registered again', async () => {
    const { workspaces } = openWorkspaces(await temporaryHome());
    const made = await workspaces.register('/x/a', 'Mine');
    await workspaces.unregister(made.id);
    clock.advance(1);
    const again = await workspaces.register('/x/a');
    expect(again).toMatchObject({ id: made.id, name: 'a' });
    expect(again.created_at > made.created_at).toBe(true);
  });
});

describe('a reference', () => {
  it('is an id, an alias, or an absolute path, which is registered when it is a directory', async () => {
    const home = await temporaryHome();
    const { workspaces, index, events } = openWorkspaces(home);
    const made = await workspaces.register('/gone');
    index.upsert(sessionRow('s1', { workspaceId: 'wd_old_00000000000a', cwd: '/gone' }), 0);
    for (const reference of [made.id, 'wd_old_00000000000a', '/gone', '/x/../gone/']) {
      expect(await workspaces.refer(reference)).toMatchObject({ id: made.id, last_opened_at: made.last_opened_at });
    }
    expect(events).toHaveLength(1);
    expect(await workspaces.refer(home)).toMatchObject({ root: home });
    expect(events.at(-1)).toMatchObject({ type: 'event.workspace.created', workspace: { root: home } });
    await writeFile(join(home, 'file'), '');
    for (const reference of ['wd_x_000000000000', '', '.', 'x', join(home, 'file'), join(home, 'none'), '/\0']) {
      await expect(workspaces.refer(reference)).rejects.toMatchObject({
        code: 40410,
        message: `workspace ${reference} does not exist`,
      });
    }
  });
});

describe('servers in separate processes', () => {
  it('lose no concurrent change, and take over the lock of a killed one', async () => {
    const home = await temporaryHome();
    const program = await buildProgram('registry-writer', home);
    const names = ['one', 'two', 'three'];
    const start = (name: string) => startProgram(program, [home, name]);
    const children = names.map(start);
    const killed = start('killed');
    try {
      await Promise.all([...children, killed].map((child) => once(child, 'message')));
      killed.send('keep');
      expect((await once(killed, 'message'))[0]).toBe('held');
      const answers = children.map(async (child) => String((await once(child, 'message'))[0]));
      for (const child of children) child.send(20);
      killed.kill('SIGKILL');
      expect(await Promise.all(answers)).toEqual(['done', 'done', 'done']);
    } finally {
      for (const child of [...children, killed]) child.kill('SIGKILL');
    }
    const { workspaces, deleted_workspace_ids } = await stored(home);
    const kept = names.flatMap((name) => Array.from({ length: 20 }, (_, at) => at % 3 !== 2 && `/x/${name}-${at}`));
    const roots = Object.values<{ root: string }>(workspaces).map(({ root }) => root);
    expect(roots.sort()).toEqual(kept.filter(Boolean).sort());
    expect(deleted_workspace_ids).toHaveLength(3 * 6);
    expect((await readdir(home)).filter((name) => name.startsWith('workspaces.json'))).toHaveLength(2);
  });
});

describe('two servers of one home', () => {
  it('refuse a change whose lock another took while the process was suspended, and drop it', async () => {
    const home = await temporaryHome();
    const { workspaces, events } = openWorkspaces(home, { robbed: true });
    const other = openWorkspaces(home).workspaces;
    const { id } = await other.register('/x/a');
    const before = await readFile(document(home), 'utf8');
    const changes = [
      () => workspaces.register('/x/b'),
      () => workspaces.rename(id, 'New'),
      () => workspaces.unregister(id),
    ];
    for (const change of changes) await expect(change()).rejects.toMatchObject({ code: 50003 });
    expect(await readFile(document(home), 'utf8')).toBe(before);
    expect(await workspaces.list()).toEqual(await other.list());
    expect(events).toEqual([]);
  });

  it("read and preserve the other's registrations", async () => {
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
    await one.register('/x/a');
    clock.advance(1);
    const { last_opened_at } = await two.register('/x/a');
    await two.close();
    await one.close();
    expect((await stored(home)).workspaces[id].last_opened_at).toBe(last_opened_at);
  });
});
