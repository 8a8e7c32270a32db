/** The parts of a session's folder that a copy receives. */
import { existsSync } from 'node:fs';
import { link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { copySessionFolder } from '#server/sessions/copies/copy-folder.ts';

let root: string;
let from: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'copy-'));
  from = join(root, 'from');
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function put(path: string, text = path): Promise<void> {
  const at = join(from, path);
  await mkdir(dirname(at), { recursive: true });
  await writeFile(at, text);
}

const HASH = 'a'.repeat(64);
const filesOf = async (dir: string) =>
  (await readdir(dir, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(dir.length + 1))
    .toSorted();

it('are all but its journal, its lock, its header, its logs and unfinished files', async () => {
  const kept = [
    `blobs/${HASH}`,
    'media/f1.png',
    'media/f1.meta.json',
    'attachments/f1-a.txt',
    'agents/main/plans/lock.md',
    'agents/main/tasks/bash-1/output.log',
    'agents/main/tool-results/journal.ndjson',
  ];
  const left = [
    'journal.ndjson',
    'state.json',
    'state.json.tmp-1-ab',
    'lock.1',
    'lock.2',
    'logs/service-code.log',
    `blobs/${HASH}.tmp-ab`,
    'media/f2.png.tmp-1-ab',
  ];
  for (const path of [...kept, ...left]) await put(path);
  const to = join(root, 'to');
  await copySessionFolder(from, to);
  expect(await filesOf(to)).toEqual(kept.toSorted());
  for (const path of kept) expect(await readFile(join(to, path), 'utf8')).toBe(path);
  expect((await stat(join(to, 'blobs', HASH))).ino).toBe((await stat(join(from, 'blobs', HASH))).ino);
  expect((await stat(join(to, 'media/f1.png'))).nlink).toBe(1);
});

it('skips links and pipes, and accepts any file name', async () => {
  const secret = join(root, 'secret');
  await mkdir(secret);
  await writeFile(join(secret, 'key'), 'secret');
  await put('agents/main/plans/a.md');
  await symlink(secret, join(from, 'agents/linked'));
  await symlink(join(secret, 'key'), join(from, 'agents/key'));
  await symlink('/etc/passwd', join(from, 'media'));
  execFileSync('mkfifo', [join(from, 'agents/pipe')]);
  for (const name of ['..\\up', 'new\nline', '-rf', 'ü']) await put(`agents/${name}`);
  const to = join(root, 'to');
  await copySessionFolder(from, to);
  const copied = await filesOf(to);
  expect(copied).toContain('agents/main/plans/a.md');
  expect(copied).toContain('agents/new\nline');
  expect(copied.filter((path) => /linked|key|pipe|media/.test(path))).toEqual([]);
});

it('are none of an empty or missing folder', async () => {
  const to = join(root, 'to');
  await mkdir(from);
  await copySessionFolder(from, to);
  expect(await readdir(to)).toEqual([]);
});

const OTHER = '/dev/shm';
it.runIf(existsSync(OTHER))('includes copies of the long texts on another file system', async () => {
  await put(`blobs/${HASH}`, 'text');
  const other = await mkdtemp(join(OTHER, 'copy-'));
  try {
    await expect(link(join(from, 'blobs', HASH), join(other, 'linked'))).rejects.toMatchObject({ code: 'EXDEV' });
    await copySessionFolder(from, join(other, 'to'));
    expect(await readFile(join(other, 'to/blobs', HASH), 'utf8')).toBe('text');
  } finally {
    await rm(other, { recursive: true, force: true });
  }
});
