import { mkdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createFolderComparison, type RowStamp } from '#server/sessions/index/folder-comparison.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const WORKSPACE = 'wd_one_000000000001';

/** Creates a session's folder with a state file; returns the stamp of its row. */
async function writeFolder(root: string, id: string, workspaceId = WORKSPACE): Promise<RowStamp> {
  const dir = join(root, workspaceId, id);
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'state.json'), id);
  const { mtimeMs: mtime, size } = await stat(join(dir, 'state.json'));
  return { workspaceId, id, mtime, size };
}

const none: RowStamp = { workspaceId: WORKSPACE, id: 'none', mtime: null, size: null };

it('finds rows whose file differs, was removed or added, and those without a folder', async () => {
  const root = await temporaryHome();
  const names = ['same', 'longer', 'later', 'lost'];
  const rows = await Promise.all(names.map((id) => writeFolder(root, id)));
  const fileless = { ...none, id: 'fileless' };
  const filed = { ...none, id: 'filed' };
  await mkdir(join(root, WORKSPACE, 'fileless'));
  await writeFolder(root, 'filed');
  await writeFile(join(root, WORKSPACE, 'longer', 'state.json'), 'longer than before');
  await rm(join(root, WORKSPACE, 'lost'), { recursive: true });
  const [same, longer, later, lost] = rows;
  if (!same || !longer || !later || !lost) throw new Error('four rows');
  const compared = [same, longer, { ...later, mtime: Number(later.mtime) - 1 }, lost, fileless, filed, none];
  expect(createFolderComparison(root).compare(compared)).toEqual({ changed: [1, 2, 5], removed: [3, 6] });
});

it('a folder that was created after the others were listed is not removed', async () => {
  const root = await temporaryHome();
  const first = await writeFolder(root, 'first');
  const comparison = createFolderComparison(root);
  comparison.compare([first]);
  const second = await writeFolder(root, 'second');
  expect(comparison.compare([second])).toEqual({ changed: [], removed: [] });
  expect(comparison.rest()).toEqual([]);
});

it('a workspace that is a file, and a link to a folder, are no folders of sessions', async () => {
  const root = await temporaryHome();
  const linked = await writeFolder(root, 'linked');
  await rename(join(root, WORKSPACE, 'linked'), join(root, 'elsewhere'));
  await symlink(join(root, 'elsewhere'), join(root, WORKSPACE, 'linked'));
  await writeFile(join(root, 'wd_file'), '');
  const comparison = createFolderComparison(root);
  const rows = [linked, { ...none, workspaceId: 'wd_file', id: 'below' }];
  expect(comparison.compare(rows)).toEqual({ changed: [], removed: [0, 1] });
});

it('a state file that cannot be examined is read again', async () => {
  const root = await temporaryHome();
  const row = await writeFolder(root, 'looped');
  const path = join(root, WORKSPACE, 'looped', 'state.json');
  await rm(path);
  await symlink(path, path);
  expect(createFolderComparison(root).compare([row])).toEqual({ changed: [0], removed: [] });
});

it('returns the folders without a compared row a single time, in portions', async () => {
  const root = await temporaryHome();
  const row = await writeFolder(root, 'row');
  const other = 'wd_two_000000000002';
  const names = Array.from({ length: 1200 }, (_, place) => `folder-${place}`);
  await Promise.all(names.map((name) => mkdir(join(root, other, name), { recursive: true })));
  const comparison = createFolderComparison(root);
  comparison.compare([row]);
  const portions = [comparison.rest(), comparison.rest(), comparison.rest(), comparison.rest()];
  expect(portions.map((portion) => portion.length)).toEqual([500, 500, 200, 0]);
  expect(new Set(portions.flat().map(({ name }) => name))).toEqual(new Set(names));
  expect(createFolderComparison(join(root, 'missing')).rest()).toEqual([]);
});
