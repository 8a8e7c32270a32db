import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeIndexV7, type RowV7 } from '#support/index-v7.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { openIndex, sessionDir, WORKSPACE, writeSession } from './index-fixtures.ts';

const cwd = '/projects/one';
const row = (id: string, more: Partial<RowV7> = {}): RowV7 => ({ id, workspaceId: WORKSPACE, cwd, ...more });

async function writtenRow(home: string, id: string, more: Partial<RowV7> = {}): Promise<RowV7> {
  await writeSession(home, id);
  const { mtimeMs, size } = await stat(join(sessionDir(home, id), 'state.json'));
  return row(id, { stateMtime: mtimeMs, stateSize: size, ...more });
}

const all = { archived: 'include' } as const;

it('serves the rows of an index of version 7 without reading a folder', async () => {
  const home = await temporaryHome();
  writeIndexV7(home, [
    await writtenRow(home, 'a', { title: 'A', lastPrompt: 'Hi', lastTurnReason: 'failed', updatedAt: 3 }),
    await writtenRow(home, 'b', { archived: 1 }),
  ]);
  const { index, reads, lines } = openIndex(home);
  await index.ready();
  await index.repair();
  expect(reads).toEqual([]);
  expect(lines).toEqual([]);
  expect(index.stored('a')).toMatchObject({
    header: { title: 'A', titleKind: 'custom', lastPrompt: 'Hi', lastTurnReason: 'failed', custom: { k: 1 } },
    revision: 3,
  });
  expect(index.list(all).rows.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(index.workspaces()).toEqual([{ workspaceId: WORKSPACE, cwd, sessions: 2 }]);
});

it('takes over more rows than one portion has', async () => {
  const home = await temporaryHome();
  const rows = Array.from({ length: 1_203 }, (_, place) => row(`s${place}`));
  writeIndexV7(home, rows);
  // The pass over the folders would remove these rows, which have none.
  const { index } = openIndex(home, { read: () => Promise.reject(new Error('no folder is read')) });
  await index.ready();
  expect(index.workspaces()).toEqual([{ workspaceId: WORKSPACE, cwd, sessions: 1_203 }]);
});

it('compares the folders with the rows afterwards', async () => {
  const home = await temporaryHome();
  writeIndexV7(home, [await writtenRow(home, 'same'), row('removed')]);
  await writeSession(home, 'created', { title: 'New' });
  const { index, reads } = openIndex(home);
  await index.ready();
  await index.repair();
  expect(reads).toEqual(['created']);
  expect(
    index
      .list(all)
      .rows.map(({ id }) => id)
      .toSorted(),
  ).toEqual(['created', 'same']);
});

it('does not overwrite a row that was written before', async () => {
  const home = await temporaryHome();
  const old = await writtenRow(home, 'a', { title: 'Old' });
  writeIndexV7(home, [old]);
  const { index } = openIndex(home);
  const { index: copy } = openIndex(await temporaryHome(), { sessionsDir: join(home, 'sessions') });
  await copy.ready();
  const header = copy.get('a');
  if (!header) throw new Error('the folder is not indexed');
  index.upsert({ ...header, title: 'New' }, 0);
  await index.ready();
  expect(index.get('a')).toMatchObject({ title: 'New' });
});

it.each<[string, (home: string) => void | Promise<void>]>([
  ['that was never filled', (home) => writeIndexV7(home, [row('gone')], { filled: false })],
  [
    'that is damaged',
    async (home) => {
      await mkdir(join(home, 'cache'), { recursive: true });
      await writeFile(join(home, 'cache/index-v7.db'), 'no database '.repeat(1_000));
    },
  ],
  [
    'that is a directory',
    async (home) => {
      await mkdir(join(home, 'cache/index-v7.db'), { recursive: true });
    },
  ],
])('reads the folders if there is an index %s', async (_what, place) => {
  const home = await temporaryHome();
  await writeSession(home, 'a', { title: 'A' });
  await place(home);
  const { index, reads, lines } = openIndex(home);
  await index.ready();
  expect(reads).toEqual(['a']);
  expect(index.list(all).rows.map(({ title }) => title)).toEqual(['A']);
  expect(lines.filter((line) => line.includes('damaged and is made again'))).toEqual([]);
});

it('reads the folders after the index was damaged: the rows of the earlier one may be older', async () => {
  const home = await temporaryHome();
  await writeSession(home, 'a', { title: 'Present' });
  const { index } = openIndex(home);
  await index.ready();
  await index.close();
  const { mtimeMs, size } = await stat(join(sessionDir(home, 'a'), 'state.json'));
  writeIndexV7(home, [row('a', { title: 'Old', stateMtime: mtimeMs, stateSize: size })]);
  await writeFile(join(home, 'cache/index-v8.db'), 'no database '.repeat(1_000));
  await rm(join(home, 'cache/index-v8.db-wal'), { force: true });
  const { index: again, reads } = openIndex(home);
  await again.ready();
  await again.repair();
  expect(reads).toEqual(['a']);
  expect(again.get('a')).toMatchObject({ title: 'Present' });
});
