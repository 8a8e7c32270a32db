import { once } from 'node:events';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { event, type Draft } from '#server/journal/records.ts';
import { indexRow } from '#server/sessions/index-rows.ts';
import { createSessionLog } from '#server/journal/session-log.ts';
import { createStateFile } from '#server/sessions/state-file.ts';
import { sessionView } from '#server/sessions/session-view.ts';
import type { SessionRow } from '#server/sessions/session-row.ts';
import { buildProgram, programFolder, startProgram } from '#support/programs.ts';
import { logOptions, SESSION_ID } from '#support/session-logs.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { openIndex, sessionDir, sessionRow, WORKSPACE, writeSession } from './index-fixtures.ts';

const all = { archived: 'include' } as const;

describe('session index', () => {
  it('gives a row back as it was stored', async () => {
    const { index } = openIndex(await temporaryHome());
    const full: SessionRow = {
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
      forkedFrom: 's0',
    };
    index.upsert(full);
    expect(index.get('s1')).toEqual(full);
    const bare = sessionRow('s1');
    index.upsert(bare);
    expect(index.get('s1')).toEqual(bare);
    expect(index.get('s2')).toBeUndefined();
    expect(index.list(all).rows).toHaveLength(1);
  });

  it('shows the rows of another server of the home at once', async () => {
    const home = await temporaryHome();
    const [ours, theirs] = [openIndex(home).index, openIndex(home).index];
    await Promise.all([ours.ready(), theirs.ready()]);
    theirs.upsert(sessionRow('s1', { title: 'theirs' }));
    expect(ours.get('s1')).toMatchObject({ title: 'theirs' });
  });

  it('counts by workspace and names the directories', async () => {
    const { index } = openIndex(await temporaryHome());
    expect(index.workDirs()).toEqual([]);
    index.upsert(sessionRow('a'));
    index.upsert(sessionRow('b', { archived: true }));
    index.upsert(sessionRow('c', { workspaceId: 'wd_two_000000000002', cwd: '/projects/two' }));
    expect(index.countByWorkspace([WORKSPACE, 'wd_two_000000000002', 'wd_no_000000000003'])).toEqual(
      new Map([
        [WORKSPACE, 2],
        ['wd_two_000000000002', 1],
      ]),
    );
    expect(index.workDirs()).toEqual([
      { workspaceId: WORKSPACE, cwd: '/projects/one' },
      { workspaceId: 'wd_two_000000000002', cwd: '/projects/two' },
    ]);
  });

  it('finds sessions with something open', async () => {
    const { index } = openIndex(await temporaryHome());
    index.upsert(sessionRow('a', { open: true }));
    index.upsert(sessionRow('b', { open: true }));
    index.upsert(sessionRow('b'));
    expect(index.openRows().map(({ id }) => id)).toEqual(['a']);
  });

  it('keeps a row that cannot be written and writes it later', async () => {
    const home = await temporaryHome();
    await writeFile(join(home, 'cache'), 'in the way');
    const { index, lines } = openIndex(home, { retryAfterMs: 5 });
    await index.ready();
    await writeSession(home, 's1');
    index.upsert(sessionRow('s1', { title: 'kept' }));
    expect(lines.join('')).toContain('could not be written');
    expect(index.get('s1')).toMatchObject({ title: 'kept' });
    expect(() => index.list(all)).toThrow(expect.objectContaining({ code: 50003 }));
    await rm(join(home, 'cache'));
    await vi.waitFor(() => expect(index.list(all).rows).toHaveLength(1));
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

  it('leaves out what holds no readable session, and does not try again until it changes', async () => {
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

  it('picks up what other programs made, changed and removed, and reads nothing else', async () => {
    const home = await temporaryHome();
    for (const id of ['same', 'changed', 'removed']) await writeSession(home, id, { title: 'first' });
    const { index, reads } = openIndex(home);
    await index.ready();
    reads.length = 0;

    await writeSession(home, 'made');
    const dir = await writeSession(home, 'changed', { title: 'second' });
    // Two writes can fall into one tick of the file system's clock.
    await utimes(join(dir, 'state.json'), new Date(), new Date(Date.now() + 3_000));
    await rm(sessionDir(home, 'removed'), { recursive: true });
    await index.repair();
    expect(reads.sort()).toEqual(['changed', 'made']);
    expect(index.list(all).rows.map(({ id, title }) => [id, title])).toEqual([
      ['same', 'first'],
      ['made', ''],
      ['changed', 'second'],
    ]);

    reads.length = 0;
    await index.repair();
    expect(reads).toEqual([]);
  });

  it('forgets the sessions of a workspace whose folder went', async () => {
    const home = await temporaryHome();
    await writeSession(home, 's1');
    const { index } = openIndex(home);
    await index.ready();
    await rm(join(home, 'sessions'), { recursive: true });
    await index.repair();
    expect(index.list(all).rows).toEqual([]);
  });

  it('does not read sessions whose row came with the file, or a moment before it', async () => {
    const home = await temporaryHome();
    const { index, reads } = openIndex(home);
    await index.ready();
    index.upsert(sessionRow('before', { title: 'row' }));
    await writeSession(home, 'before', { title: 'file' });
    await writeSession(home, 'after', { title: 'file' });
    index.upsert(sessionRow('after', { title: 'row' }));
    await index.repair();
    expect(reads).toEqual([]);
    expect(index.list(all).rows.map(({ title }) => title)).toEqual(['row', 'row']);
  });

  it('never writes over a row that changed while the folder was read', async () => {
    const home = await temporaryHome();
    await writeSession(home, 's1', { title: 'file' });
    const { index } = openIndex(home, {
      read: async ({ dir }) => {
        const state = await createStateFile(dir).read();
        index.upsert(sessionRow('s1', { title: 'live' }));
        return sessionRow('s1', { title: state?.title ?? '' });
      },
    });
    await index.ready();
    expect(index.get('s1')).toMatchObject({ title: 'live' });
  });

  it('runs again by itself', async () => {
    const home = await temporaryHome();
    const { index } = openIndex(home, { repairEveryMs: 5 });
    await index.ready();
    await writeSession(home, 's1');
    await vi.waitFor(() => expect(index.get('s1')).toBeDefined());
  });

  it('fills again after the file was removed or damaged', async () => {
    const home = await temporaryHome();
    await writeSession(home, 's1');
    const { index } = openIndex(home, { repairEveryMs: 5 });
    await index.ready();
    await rm(join(home, 'cache'), { recursive: true });
    await vi.waitFor(() => expect(openIndex(home).index.get('s1')).toBeDefined());
    expect(index.get('s1')).toBeDefined();
  });

  it('gives the row that following the appends gave', async () => {
    const home = await temporaryHome();
    const dir = sessionDir(home, SESSION_ID);
    const { options } = logOptions(dir);
    const log = createSessionLog({
      ...options,
      session: sessionView(sessionRow(SESSION_ID), undefined),
      titleKind: 'replaceable',
    });
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
      const { outcome, ...facts } = indexRow(log.state);
      const row = sessionRow(SESSION_ID, { ...facts, lastTurnReason: outcome, custom: { a: 1 } });
      await writeSession(home, SESSION_ID, { createdAt: row.createdAt, custom: row.custom });
      index.upsert(row);
      const rebuilt = openIndex(await temporaryHome(), { sessionsDir: join(home, 'sessions') });
      await rebuilt.index.ready();
      expect(rebuilt.index.get(SESSION_ID)).toEqual(row);
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
  it('write one index at the same time', async () => {
    const home = await temporaryHome();
    const folder = await programFolder();
    const program = await buildProgram('index-writer', folder);
    const writers = ['a', 'b', 'c'].map((name) => startProgram(program, [home, name]));
    const exits = await Promise.all(writers.map((writer) => once(writer, 'exit')));
    expect(exits.map(([code]) => code)).toEqual([0, 0, 0]);
    expect(openIndex(home).index.list(all).rows).toHaveLength(300);
    await rm(folder, { recursive: true });
  });
});
