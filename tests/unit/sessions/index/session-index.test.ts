import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { event, type Draft } from '#server/journal/records.ts';
import { createSessionLog } from '#server/journal/session-log.ts';
import { restAfter } from '#server/sessions/index/session-index.ts';
import { foldedHeader, sessionOfHeader, type SessionHeader } from '#server/sessions/index/session-header.ts';
import { createLogger } from '#server/logging/log.ts';
import { readStateFile } from '#server/sessions/index/state-file.ts';
import { readSessionFolder } from '#server/sessions/index/session-folder.ts';
import { unfinishedPath } from '#server/sessions/index/unfinished-folders.ts';
import { deadOwner, leaseHolder } from '#support/lease-holder.ts';
import { eventually } from '#support/patience.ts';
import { buildProgram, programFolder, startProgram } from '#support/programs.ts';
import { logOptions, SESSION_ID } from '#support/session-logs.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { openIndex, sessionDir, sessionRow, WORKSPACE, writeSession } from './index-fixtures.ts';

const all = { archived: 'include' } as const;

/** Creates the journal of a new session, without a `state.json`. */
async function journalOf(home: string) {
  const dir = sessionDir(home, SESSION_ID);
  const { options } = logOptions(dir);
  const session = sessionOfHeader(sessionRow(SESSION_ID, { custom: { a: 1 } }), undefined);
  const log = createSessionLog({ ...options, session, titleKind: 'replaceable' });
  return { log, dir };
}

async function contents(dir: string): Promise<Record<string, string>> {
  const names = await readdir(dir);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(dir, name), 'utf8')] as const)),
  );
}

describe('session index', () => {
  it('returns a row unchanged', async () => {
    const { index } = openIndex(await temporaryHome());
    const full: SessionHeader = {
      id: 's1',
      workspaceId: WORKSPACE,
      cwd: '/projects/ü',
      title: 'A title',
      titleKind: 'generated',
      lastPrompt: 'do it',
      lastTurnReason: 'failed',
      createdAt: 1,
      updatedAt: 2,
      archived: true,
      archivedAt: 3,
      custom: { a: [1, null], parent_session_id: 's0', child_session_kind: 'child' },
      open: true,
      settled: true,
      wakes: ['cron'],
      forkedFrom: 's0',
    };
    index.upsert(full, 0);
    expect(index.get('s1')).toEqual(full);
    const bare = sessionRow('bare');
    index.upsert(bare, 0);
    expect(index.get('bare')).toEqual(bare);
    expect(index.get('s2')).toBeUndefined();
    expect(index.list(all).rows).toHaveLength(2);
  });

  it('lists no folder under construction, and removes those that a killed server left', async () => {
    const home = await temporaryHome();
    await writeSession(home, 'session_a');
    const folder = join(home, 'sessions', WORKSPACE);
    const stages = ['session_new', 'session_old'].map((id) => unfinishedPath(join(folder, id)));
    for (const stage of stages) {
      await mkdir(stage);
      await writeFile(join(stage, 'state.json'), await readFile(join(folder, 'session_a', 'state.json')));
    }
    const old = new Date(Date.now() - 2 * 60 * 60 * 1000);
    await utimes(stages[1] ?? '', old, old);
    const { index, lines } = openIndex(home);
    await index.repair();
    expect(index.list(all).rows.map(({ id }) => id)).toEqual(['session_a']);
    expect((await readdir(folder)).toSorted()).toEqual(['.unfinished-session_new', 'session_a']);
    expect(lines).toEqual([]);
  });

  it('preserves members that no journal has when a journal is followed, and vice versa', async () => {
    const home = await temporaryHome();
    const [ours, theirs] = [openIndex(home).index, openIndex(home).index];
    ours.upsert(sessionRow('s1', { custom: { a: 1 }, updatedAt: 10 }), 100);
    theirs.patch('s1', ({ custom }) => ({ archived: true, archivedAt: 7, custom: { ...custom, b: 2 }, updatedAt: 20 }));
    // Derived before the other server's change was read.
    ours.upsert(sessionRow('s1', { title: 'later', updatedAt: 15 }), 200);
    const header = sessionRow('s1', {
      title: 'later',
      archived: true,
      archivedAt: 7,
      custom: { a: 1, b: 2 },
      updatedAt: 20,
    });
    expect(ours.stored('s1')).toEqual({ header, revision: 3, journalLength: 200 });
    theirs.patch('s1', () => ({ archived: false, archivedAt: undefined }));
    const { archivedAt: _archivedAt, ...restored } = header;
    expect(ours.stored('s1')).toEqual({ header: { ...restored, archived: false }, revision: 4, journalLength: 200 });
  });

  it('shows the rows of another server of the home immediately', async () => {
    const home = await temporaryHome();
    const [ours, theirs] = [openIndex(home).index, openIndex(home).index];
    await Promise.all([ours.ready(), theirs.ready()]);
    theirs.upsert(sessionRow('s1', { title: 'theirs' }), 0);
    expect(ours.get('s1')).toMatchObject({ title: 'theirs' });
  });

  it('counts by workspace and names the directories', async () => {
    const { index } = openIndex(await temporaryHome());
    expect(index.workspaces()).toEqual([]);
    index.upsert(sessionRow('a'), 0);
    index.upsert(sessionRow('b', { archived: true }), 0);
    index.upsert(sessionRow('c', { workspaceId: 'wd_two_000000000002', cwd: '/projects/two' }), 0);
    expect(index.workspaces()).toEqual([
      { workspaceId: WORKSPACE, cwd: '/projects/one', sessions: 2 },
      { workspaceId: 'wd_two_000000000002', cwd: '/projects/two', sessions: 1 },
    ]);
  });

  it('names the session created last, archived ones apart', async () => {
    const { index } = openIndex(await temporaryHome());
    expect(index.newestId()).toBeUndefined();
    index.upsert(sessionRow('a', { createdAt: 5, updatedAt: 9 }), 0);
    index.upsert(sessionRow('b', { createdAt: 6, updatedAt: 8 }), 0);
    index.upsert(sessionRow('c', { createdAt: 6, updatedAt: 7 }), 0);
    index.upsert(sessionRow('d', { createdAt: 7, updatedAt: 7, archived: true }), 0);
    expect(index.newestId()).toBe('c');
  });

  it('finds sessions with something open', async () => {
    const { index } = openIndex(await temporaryHome());
    index.upsert(sessionRow('a', { open: true }), 0);
    index.upsert(sessionRow('b', { open: true }), 0);
    index.upsert(sessionRow('b'), 1);
    expect(index.openRows().map(({ id }) => id)).toEqual(['a']);
  });

  it('reads the sessions that wake from an index of them', async () => {
    const { db, index } = openIndex(await temporaryHome());
    for (const id of ['a', 'b', 'c']) index.upsert(sessionRow(id, { wakes: id === 'b' ? [] : ['cron'] }), 0);
    index.upsert(sessionRow('d', { wakes: ['cron'], archived: true }), 0);
    expect(index.wakingRows().map(({ id }) => id)).toEqual(['c', 'a']);
    // All other indexes have a row for each session.
    db.run(({ run }) => run('DROP INDEX sessions_waking'));
    expect(() => index.wakingRows()).toThrow('sessions_waking');
  });

  it('retains a row that cannot be written and writes it later', async () => {
    const home = await temporaryHome();
    await writeFile(join(home, 'cache'), 'in the way');
    const { index, lines } = openIndex(home, { retryAfterMs: 5 });
    await index.ready();
    for (const id of ['s1', 's2']) {
      await writeSession(home, id);
      index.upsert(sessionRow(id, { title: 'kept' }), 0);
    }
    expect(lines.filter((line) => line.includes('could not be written'))).toHaveLength(2);
    for (const id of ['s1', 's2']) expect(index.get(id)).toMatchObject({ title: 'kept' });
    expect(() => index.list(all)).toThrow(expect.objectContaining({ code: 50003 }));
    await rm(join(home, 'cache'));
    await eventually(() => expect(index.list(all).rows.map(({ title }) => title)).toEqual(['kept', 'kept']));
    expect(index.workspaces()[0]?.sessions).toBe(2);
  });
});

describe('repair', () => {
  it('fills an empty index from the folders before the first list', async () => {
    const home = await temporaryHome();
    for (const id of ['s1', 's2', 's3']) await writeSession(home, id, { title: id });
    const { index } = openIndex(home);
    await index.ready();
    expect(index.list(all).rows.map(({ title }) => title)).toEqual(['s3', 's2', 's1']);
  });

  it('omits a folder without a readable session, and does not read it again until it changes', async () => {
    const home = await temporaryHome();
    await writeSession(home, 's1');
    await mkdir(sessionDir(home, 's2'), { recursive: true });
    await writeFile(join(sessionDir(home, 's2'), 'state.json'), '{');
    await mkdir(sessionDir(home, 'no-session'), { recursive: true });
    await writeFile(join(home, 'sessions', 'a-file'), '');
    const { index, lines, reads } = openIndex(home);
    await index.ready();
    expect(index.list(all).rows.map(({ id }) => id)).toEqual(['s1']);
    expect(lines).toHaveLength(1);
    const before = reads.length;
    await index.repair();
    expect(reads).toHaveLength(before);
    await writeSession(home, 's2');
    await index.repair();
    expect(index.get('s2')).toBeDefined();
  });

  it.each([
    ['empty', (path: string) => writeFile(path, '')],
    ['half a line', (path: string) => writeFile(path, '{"id":"s1","ver')],
    ['a directory', (path: string) => rm(path, { force: true }).then(() => mkdir(path))],
  ])('takes a session whose state.json is damaged from its journal: %s', async (_what, damage) => {
    const home = await temporaryHome();
    const { log, dir } = await journalOf(home);
    await log.close();
    await damage(join(dir, 'state.json'));
    const { index, lines } = openIndex(home);
    await index.ready();
    expect(index.list(all).rows).toMatchObject([{ id: SESSION_ID }]);
    expect(lines).toEqual([expect.stringContaining('state.json of a session is damaged')]);
    await index.repair();
    expect(lines).toHaveLength(1);
  });

  it('retries a refused read, and logs it once', async () => {
    const home = await temporaryHome();
    await writeSession(home, 's1');
    let refusals = 2;
    const { index, lines } = openIndex(home, {
      read: async (folder, known) => {
        if (refusals-- > 0) throw Object.assign(new Error('too many open files'), { code: 'EMFILE' });
        return readSessionFolder(folder, known, { holder: leaseHolder(), log: createLogger('silent') });
      },
    });
    await index.ready();
    expect(index.get('s1')).toBeUndefined();
    await index.repair();
    expect(lines).toHaveLength(1);
    await index.repair();
    expect(index.get('s1')).toBeDefined();
  });

  it('finds sessions that other programs created, changed and removed, and reads no others', async () => {
    const home = await temporaryHome();
    for (const id of ['same', 'changed', 'removed']) await writeSession(home, id, { title: 'first' });
    const { index, reads } = openIndex(home);
    await index.ready();
    reads.length = 0;

    await writeSession(home, 'made');
    await writeSession(home, 'changed', { title: 'second', archived: true }, { revision: 7 });
    await rm(sessionDir(home, 'removed'), { recursive: true });
    await index.repair();
    expect(reads.sort()).toEqual(['changed', 'made']);
    expect(index.list(all).rows.map(({ id, title, archived }) => [id, title, archived])).toEqual([
      ['same', 'first', false],
      ['made', '', false],
      // The journal is authoritative for a title.
      ['changed', 'first', true],
    ]);

    reads.length = 0;
    await index.repair();
    expect(reads).toEqual([]);
  });

  it('finds the changes among more sessions than are compared in one request', async () => {
    const home = await temporaryHome();
    const ids = Array.from({ length: 1_100 }, (_, place) => `s${String(place).padStart(4, '0')}`);
    const [first = '', , third = ''] = ids;
    const last = ids.at(-1) ?? '';
    const { index, reads } = openIndex(home);
    for (const id of ids) {
      await mkdir(sessionDir(home, id), { recursive: true });
      index.upsert(sessionRow(id), 0);
    }
    await index.ready();
    expect(reads).toEqual([]);
    await rm(sessionDir(home, first), { recursive: true });
    await rm(sessionDir(home, last), { recursive: true });
    await writeSession(home, third, { archived: true }, { revision: 7 });
    await writeSession(home, 'added');
    await index.repair();
    expect(reads.sort()).toEqual(['added', third]);
    const rows = index.list({ archived: 'include', limit: undefined }).rows.map(({ id }) => id);
    expect(rows.sort()).toEqual(['added', ...ids.slice(1, -1)]);
  });

  it('reads no folder whose session was indexed since its row was compared', async () => {
    const home = await temporaryHome();
    const ids = Array.from({ length: 100 }, (_, place) => `s${place}`);
    for (const id of ids) await writeSession(home, id);
    const { index, reads } = openIndex(home, {
      read: async ({ id, dir, workspaceId }) => {
        if (reads.length === 0) for (const each of ids) index.upsert(sessionRow(each), 0);
        reads.push(id);
        return readStateFile(dir, workspaceId, () => undefined);
      },
    });
    await index.ready();
    // Some are read concurrently with the first one.
    expect(reads.length).toBeLessThan(ids.length);
  });

  it('a copy of a folder in another workspace does not change the row of the session', async () => {
    const home = await temporaryHome();
    await writeSession(home, 's1', { title: 'original' });
    const { index } = openIndex(home);
    await index.ready();
    await writeSession(home, 's1', { title: 'copy', archived: true }, { workspaceId: 'wd_two_2', revision: 9 });
    await index.repair();
    expect(index.get('s1')).toMatchObject({ workspaceId: WORKSPACE, title: 'original', archived: false });
  });

  it('ends in the middle, and the next one continues', async () => {
    const home = await temporaryHome();
    const ids = Array.from({ length: 200 }, (_, place) => `s${place}`);
    for (const id of ids) await writeSession(home, id);
    let closing: Promise<void> | undefined;
    const { index, reads } = openIndex(home, {
      read: async ({ id, dir, workspaceId }) => {
        reads.push(id);
        closing ??= index.close();
        return readStateFile(dir, workspaceId, () => undefined);
      },
    });
    await index.ready();
    await closing;
    expect(reads.length).toBeLessThan(ids.length);
    const next = openIndex(home);
    await next.index.ready();
    expect(next.index.list({ archived: 'include' }).rows).toHaveLength(ids.length);
  });

  it('does not change a row that is newer than its file', async () => {
    const home = await temporaryHome();
    const { index, reads } = openIndex(home);
    await index.ready();
    for (const title of ['a', 'b', 'c']) index.upsert(sessionRow('s1', { title }), 0);
    await writeSession(home, 's1', { title: 'old', archived: true }, { revision: 2 });
    await index.repair();
    expect(reads).toEqual(['s1']);
    expect(index.stored('s1')).toMatchObject({ header: { title: 'c', archived: false }, revision: 3 });
    await index.repair();
    expect(reads).toEqual(['s1']);
  });

  it('reads a session again whose journal has become shorter: it was restored from a backup', async () => {
    const home = await temporaryHome();
    const { log, dir } = await journalOf(home);
    const { index } = openIndex(home);
    await index.ready();
    index.upsert(sessionRow(SESSION_ID, { title: 'Lost by the restore' }), 10_000_000);
    await writeSession(home, SESSION_ID, { archived: true }, { revision: 1, journalLength: log.length });
    await index.repair();
    expect(index.stored(SESSION_ID)).toMatchObject({
      header: { title: '', archived: true },
      journalLength: log.length,
    });
    expect(await readdir(dir)).toEqual(['journal.ndjson', 'state.json']);
  });

  it('never locks, settles or writes anything in a folder', async () => {
    const home = await temporaryHome();
    const { log, dir } = await journalOf(home);
    await log.claim();
    log.append([event('main', 'turn.started', { turnId: 0, origin: { kind: 'user' } })]);
    await log.sync();
    const before = await contents(dir);
    const rebuilt = openIndex(await temporaryHome(), { sessionsDir: join(home, 'sessions') });
    await rebuilt.index.ready();
    expect(rebuilt.index.get(SESSION_ID)).toMatchObject({ open: true });
    expect(rebuilt.index.get(SESSION_ID)).not.toHaveProperty('lastTurnReason');
    // The state after a kill of its server: the row has the values that settling will produce.
    await writeFile(join(dir, 'lock.1'), deadOwner());
    const later = openIndex(await temporaryHome(), { sessionsDir: join(home, 'sessions') });
    await later.index.ready();
    expect(later.index.get(SESSION_ID)).toMatchObject({ open: true, lastTurnReason: 'cancelled' });
    expect(await contents(dir)).toEqual({ ...before, 'lock.1': deadOwner() });
    await log.close();
  });

  it('removes the sessions of a workspace whose folder was removed', async () => {
    const home = await temporaryHome();
    await writeSession(home, 's1');
    const { index } = openIndex(home);
    await index.ready();
    await rm(join(home, 'sessions'), { recursive: true });
    await index.repair();
    expect(index.list(all).rows).toEqual([]);
  });

  it('never writes over a row that changed while the folder was read', async () => {
    const home = await temporaryHome();
    await writeSession(home, 's1', { title: 'file' });
    const { index } = openIndex(home, {
      read: async ({ dir, workspaceId }) => {
        const state = await readStateFile(dir, workspaceId, () => undefined);
        index.upsert(sessionRow('s1', { title: 'live' }), 0);
        return state;
      },
    });
    await index.ready();
    expect(index.get('s1')).toMatchObject({ title: 'live' });
  });

  it('runs again periodically', async () => {
    const home = await temporaryHome();
    const { index } = openIndex(home, { repairEveryMs: 5 });
    await index.ready();
    await writeSession(home, 's1');
    await eventually(() => expect(index.get('s1')).toBeDefined());
  });

  it('runs less often where it takes long', () => {
    expect([100, 3_000, 3_600_000].map((passMs) => restAfter(passMs, 60_000))).toEqual([60_000, 600_000, 900_000]);
  });

  it('runs again soon after the system refused to read a folder, and not again for one that stays unreadable', async () => {
    const home = await temporaryHome();
    for (const id of ['s1', 's2']) await writeSession(home, id);
    const refuseOnce = new Set(['s1']);
    const { index } = openIndex(home, {
      repairEveryMs: 3_600_000,
      retryAfterMs: 5,
      async read(folder, known) {
        if (folder.id === 's2' || refuseOnce.delete(folder.id))
          throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' });
        return readSessionFolder(folder, known, { holder: leaseHolder(), log: createLogger('silent') });
      },
    });
    await index.ready();
    expect(index.list(all).rows).toEqual([]);
    await eventually(() => expect(index.list(all).rows).toHaveLength(1));
    expect(await index.repair()).toBe(false);
  });

  it('fills again after the file was removed or damaged', async () => {
    const home = await temporaryHome();
    await writeSession(home, 's1');
    const { index } = openIndex(home, { repairEveryMs: 5 });
    await index.ready();
    await rm(join(home, 'cache'), { recursive: true, maxRetries: 5 });
    await eventually(() => expect(openIndex(home).index.get('s1')).toBeDefined());
    expect(index.get('s1')).toBeDefined();
  });

  it('returns the same row as following the appends', async () => {
    const home = await temporaryHome();
    const { log } = await journalOf(home);
    await log.claim();
    const { index } = openIndex(home);
    const steps: Draft[][] = [
      [
        event(
          'main',
          'session.meta.updated',
          { title: 'A', patch: { title: 'A', isCustomTitle: true } },
          { titleKind: 'custom' },
        ),
      ],
      [
        event('main', 'session.meta.updated', { patch: { lastPrompt: 'do it' } }),
        event('main', 'turn.started', { turnId: 0, origin: { kind: 'user' } }),
      ],
      [event('main', 'turn.ended', { turnId: 0, reason: 'failed' })],
    ];
    for (const drafts of steps) {
      log.append(drafts);
      const row = foldedHeader(log.state, sessionRow(SESSION_ID), sessionRow(SESSION_ID, { custom: { a: 1 } }));
      await writeSession(home, SESSION_ID, row);
      index.upsert(row, log.length);
      const rebuilt = openIndex(await temporaryHome(), { sessionsDir: join(home, 'sessions') });
      await rebuilt.index.ready();
      expect(rebuilt.index.get(SESSION_ID)).toEqual(index.get(SESSION_ID));
    }
    expect(index.get(SESSION_ID)).toMatchObject({
      title: 'A',
      lastPrompt: 'do it',
      lastTurnReason: 'failed',
      open: false,
    });
    await log.close();
  });
});

describe('several processes', () => {
  it('create and write one index at the same time', async () => {
    const folder = await programFolder();
    const program = await buildProgram('index-writer', folder);
    const writers = ['a', 'b', 'c', 'd'].map((name) => startProgram(program, [name]));
    const answers = () => Promise.all(writers.map((writer) => once(writer, 'message')));
    await answers();
    // A conflict needs two processes in the same millisecond, so many homes are tried.
    for (let round = 0; round < 15; round++) {
      const home = await temporaryHome();
      const written = answers();
      for (const writer of writers) writer.send(home);
      expect((await written).flat().filter((answer) => typeof answer === 'string')).toEqual(
        writers.map(() => 'written'),
      );
      expect(openIndex(home).index.list(all).rows).toHaveLength(100);
    }
    for (const writer of writers) writer.kill();
    await rm(folder, { recursive: true });
  });
});
