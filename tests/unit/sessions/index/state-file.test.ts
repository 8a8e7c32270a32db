import fs, { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SessionIndex } from '#server/sessions/index/session-index.ts';
import { readStateFile, writeStateFile } from '#server/sessions/index/state-file.ts';
import { createStateFiles } from '#server/sessions/index/state-files.ts';
import { createLogger } from '#server/logging/log.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { eventually } from '#support/patience.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { openIndex, sessionRow, WORKSPACE } from './index-fixtures.ts';

const readState = (dir: string) => readStateFile(dir, WORKSPACE, (error) => expect.fail(String(error)));
const title = (text: string) => sessionRow('s1', { title: text });

describe('state.json', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await temporaryHome();
  });

  it('returns the written header, except the members that its folder and its journal determine', async () => {
    expect(await readState(dir)).toBeUndefined();
    const header = sessionRow('s1', {
      title: 'A',
      titleKind: 'custom',
      lastPrompt: 'do it',
      lastTurnReason: 'failed',
      archived: true,
      archivedAt: 3,
      custom: { a: [1, null] },
      forkedFrom: 's0',
      open: true,
      wakes: ['cron'],
    });
    await writeStateFile(dir, { header, revision: 4, journalLength: 17 });
    expect(await readState(dir)).toEqual({
      header: { ...header, open: false },
      revision: 4,
      journalLength: 17,
    });
    expect(JSON.parse(await readFile(join(dir, 'state.json'), 'utf8'))).toMatchObject({ id: 's1', version: 2 });
  });

  it('of an older version may lack revision and length', async () => {
    const { id, cwd, createdAt, updatedAt } = sessionRow('s1');
    const text = JSON.stringify({ id, version: 2, cwd, createdAt, updatedAt, archived: false, agents: {} });
    await writeFile(join(dir, 'state.json'), text);
    const header = sessionRow('s1');
    expect(await readState(dir)).toEqual({ header, revision: 0, journalLength: 0 });
  });

  it.each([
    [{ cron: true }, ['cron']],
    [{ cron: false }, []],
    [{}, []],
    [{ cron: true, wakes: [] }, []],
    [{ wakes: ['cron'] }, ['cron']],
  ])('of an earlier version specifies by `cron` that the session wakes: %j', async (members, wakes) => {
    const { id, cwd, createdAt, updatedAt } = sessionRow('s1');
    const text = JSON.stringify({ id, version: 2, cwd, createdAt, updatedAt, archived: false, ...members });
    await writeFile(join(dir, 'state.json'), text);
    expect((await readState(dir))?.header).toEqual(sessionRow('s1', { wakes }));
  });

  it.each(['', '{', '{"id":"x"}'])('that is damaged is treated as missing, and is replaced: %j', async (text) => {
    await writeFile(join(dir, 'state.json'), text);
    const onDamage = vi.fn();
    expect(await readStateFile(dir, WORKSPACE, onDamage)).toBeUndefined();
    expect(String(onDamage.mock.calls[0])).toMatch(/JSON|Invalid input/);
    await writeStateFile(dir, { header: title('A'), revision: 1, journalLength: 0 });
    expect(await readState(dir)).toMatchObject({ header: { title: 'A' } });
  });

  it('is not treated as damaged after a temporary error of the system', async () => {
    await writeStateFile(dir, { header: title('A'), revision: 1, journalLength: 0 });
    vi.spyOn(fs, 'readFile').mockRejectedValueOnce(Object.assign(new Error('too many open files'), { code: 'EMFILE' }));
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    await expect(readState(dir)).rejects.toThrow('too many open files');
  });
});

describe('the files of sessions', () => {
  let dir: string;
  let index: SessionIndex;
  let clock: ManualClock;
  const log = createLogger('silent');
  beforeEach(async () => {
    const home = await temporaryHome();
    ({ index } = openIndex(home));
    dir = join(home, 'session');
    await mkdir(dir);
    clock = manualClock();
  });
  const present = async () => (await readState(dir))?.header.title;

  it('are written once for many changes, some time after the first of them', async () => {
    const stamps: number[] = [];
    const mirrored: SessionIndex['mirrored'] = (id, revision, stamp) => {
      stamps.push(revision);
      index.mirrored(id, revision, stamp);
    };
    const files = createStateFiles({ index: { stored: index.stored, mirrored }, log, clock });
    for (const text of ['a', 'b', 'c']) {
      index.upsert(title(text), 1);
      files.writeSoon('s1', dir);
    }
    clock.advance(4_999);
    expect(await readdir(dir)).toEqual([]);
    clock.advance(1);
    await eventually(async () => expect(await present()).toBe('c'));
    await files.close();
    expect(stamps).toEqual([3]);
  });

  it('are complete when the server stops', async () => {
    const files = createStateFiles({ index, log, clock });
    index.upsert(title('a'), 1);
    files.writeSoon('s1', dir);
    await files.close();
    expect(await present()).toBe('a');
  });

  it('are written again when the row has changed meanwhile, also by another writer', async () => {
    let late = true;
    const stored: SessionIndex['stored'] = (id) => {
      const row = index.stored(id);
      if (late) index.upsert(title('late'), 2);
      late = false;
      return row;
    };
    const files = createStateFiles({ index: { stored, mirrored: index.mirrored }, log, clock });
    index.upsert(title('early'), 1);
    await files.write('s1', dir);
    expect(await present()).toBe('late');
  });

  it('that cannot be written fail for the waiting caller, and are written the next time', async () => {
    const files = createStateFiles({ index, log, clock });
    index.upsert(title('a'), 1);
    const missing = join(dir, 'missing');
    await expect(files.write('s1', missing)).rejects.toThrow('ENOENT');
    await mkdir(missing);
    await files.write('s1', missing);
    expect(await readState(missing)).toBeDefined();
  });
});
