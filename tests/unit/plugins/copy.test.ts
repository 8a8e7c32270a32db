import { execFileSync } from 'node:child_process';
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { copyFolder } from '#server/plugins/copy.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { writeFiles } from '#support/plugins.ts';

const folder = useTemporaryFolder();
const target = () => join(folder.path, 'target');
let source: string;
beforeEach(async () => {
  await mkdir(join(folder.path, 'source'));
  source = await realpath(join(folder.path, 'source'));
});

const copy = (limits = { maxBytes: 1000, maxEntries: 20 }, signal = new AbortController().signal) =>
  copyFolder({ real: source, shown: '/shown' }, target(), limits, signal);
const copied = async () => (await readdir(target(), { recursive: true })).toSorted();

it('copies files and folders with their permissions, readable by the owner', async () => {
  await writeFiles(source, { 'a/b/run': 'x', 'a/plain': 'y'.repeat(300), '.hidden/file': '' });
  await chmod(join(source, 'a/b/run'), 0o755);
  await chmod(join(source, 'a/plain'), 0o4444);
  await chmod(join(source, 'a/b'), 0o555);
  expect(await copy()).toEqual([]);
  await chmod(join(source, 'a/b'), 0o755);
  expect(await copied()).toEqual(['.hidden', '.hidden/file', 'a', 'a/b', 'a/b/run', 'a/plain']);
  expect(await readFile(join(target(), 'a/plain'), 'utf8')).toBe('y'.repeat(300));
  expect((await stat(join(target(), 'a/b/run'))).mode & 0o7777).toBe(0o755);
  expect((await stat(join(target(), 'a/plain'))).mode & 0o7777).toBe(0o644);
  expect((await stat(join(target(), 'a/b'))).mode & 0o700).toBe(0o700);
});

it('leaves out .git at any depth, pipes and sockets', async () => {
  await writeFiles(source, { '.git/config': 'x', 'sub/.git': 'gitdir', 'sub/kept': '', '.gitignore': '' });
  execFileSync('mkfifo', [join(source, 'pipe')]);
  const server = createServer().listen(join(source, 'socket'));
  expect(await copy()).toEqual([]);
  server.close();
  expect(await copied()).toEqual(['.gitignore', 'sub', 'sub/kept']);
});

it('keeps links that stay inside as relative links, and leaves out others with a warning', async () => {
  await writeFiles(source, { 'a/file': 'inside', 'b/x': '', '.git/config': '' });
  await writeFile(join(folder.path, 'secret'), 'secret');
  execFileSync('mkfifo', [join(source, 'pipe')]);
  const links: Record<string, string> = {
    'b/up': '../a/file',
    absolute: join(source, 'a/file'),
    directory: './a/',
    'b/top': '..',
    chain: 'absolute',
    'through-parent': '../source/a/file',
    outside: '../secret',
    'outside-absolute': '/etc/passwd',
    dangling: 'none',
    cycle: 'cycle',
    pipes: 'pipe',
    repository: '.git/config',
  };
  for (const [path, text] of Object.entries(links)) await symlink(text, join(source, path));
  const diagnostics = await copy({ maxBytes: 1000, maxEntries: 30 });
  const targets: Record<string, string> = {};
  for (const path of Object.keys(links)) {
    const text = await readlink(join(target(), path)).catch(() => undefined);
    if (text !== undefined) targets[path] = text;
  }
  expect(targets).toEqual({
    'b/up': '../a/file',
    absolute: 'a/file',
    directory: 'a',
    'b/top': '..',
    chain: 'a/file',
    'through-parent': 'a/file',
  });
  expect(await readFile(join(target(), 'b/up'), 'utf8')).toBe('inside');
  expect(diagnostics.map(({ severity, path }) => [severity, path]).toSorted()).toEqual(
    ['cycle', 'dangling', 'outside', 'outside-absolute', 'pipes', 'repository'].map((path) => [
      'warn',
      join(source, path),
    ]),
  );
});

it('counts bytes and entries', async () => {
  await writeFiles(source, Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`f${at}`, 'x'.repeat(50)])));
  await copy();
  source = join(source, '..', 'source');
  await writeFile(join(source, 'more'), '');
  await expect(
    copyFolder(
      { real: source, shown: '/shown' },
      `${target()}2`,
      { maxBytes: 1000, maxEntries: 20 },
      new AbortController().signal,
    ),
  ).rejects.toMatchObject({
    name: 'validation.failed',
    message: 'Cannot install plugin at /shown: it has more than 20 entries',
  });
  await truncate(join(source, 'more'), 1);
  await expect(
    copyFolder(
      { real: source, shown: '/shown' },
      `${target()}3`,
      { maxBytes: 1000, maxEntries: 30 },
      new AbortController().signal,
    ),
  ).rejects.toMatchObject({
    message: 'Cannot install plugin at /shown: it has more than 1000 bytes',
  });
});

it('reports a target that cannot be written as a failure of the disk, and stops with the signal', async () => {
  await writeFiles(source, { a: 'x' });
  await expect(copy(undefined, AbortSignal.abort(new Error('stopping')))).rejects.toThrow('stopping');
  await expect(copy()).rejects.toMatchObject({ name: 'NotStored' });
});

it.skipIf(process.getuid?.() === 0)('reports a folder that cannot be read', async () => {
  await writeFiles(source, { 'closed/a': '' });
  await chmod(join(source, 'closed'), 0);
  await expect(copy()).rejects.toThrow(/^Cannot install plugin at \/shown: it cannot be read: EACCES/);
  await chmod(join(source, 'closed'), 0o700);
});
