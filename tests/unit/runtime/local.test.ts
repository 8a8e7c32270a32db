import { execFileSync } from 'node:child_process';
import { chmod, link, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const runtime = createLocalRuntime({ env: () => ({ PATH: '/nowhere:/bin', SERVICE_CODE_PASSWORD: 'secret', X: 'y' }) });
let folder: string;
beforeEach(async () => {
  folder = await temporaryHome();
});

test('files are read whole or in chunks', async () => {
  const path = join(folder, 'a');
  await writeFile(path, 'abcdef');
  expect(Buffer.from(await runtime.readFile(path, { maxBytes: 6 })).toString()).toBe('abcdef');
  const file = await runtime.openFile(path);
  const pieces: string[] = [];
  for (let piece = await file.read(4); piece.length > 0; piece = await file.read(4)) {
    pieces.push(Buffer.from(piece).toString());
  }
  expect(pieces).toEqual(['abcd', 'ef']);
  expect(file.stats.size).toBe(6);
  await file.close();
});

test('a pipe without a writer is opened without blocking', async () => {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const file = await runtime.openFile(path);
  expect([file.stats.isFile(), file.stats.isDirectory()]).toEqual([false, false]);
  await file.close();
});

test('writing creates directories, preserves mode and hard links, or appends', async () => {
  const path = join(folder, 'deep/er/a');
  expect((await runtime.writeFile(path, 'one')).size).toBe(3);
  await chmod(path, 0o640);
  await runtime.writeFile(path, 'two');
  expect((await stat(path)).mode & 0o777).toBe(0o640);
  await link(path, join(folder, 'other'));
  await runtime.writeFile(path, 'three');
  expect(await readFile(join(folder, 'other'), 'utf8')).toBe('three');
  expect((await runtime.writeFile(path, '!', { append: true })).size).toBe(6);
});

test("errors carry the system's codes", async () => {
  const missing = join(folder, 'missing');
  for (const failing of [
    (path: string) => runtime.readFile(path, { maxBytes: 1 }),
    runtime.openFile,
    runtime.stat,
    runtime.lstat,
    runtime.list,
  ]) {
    await expect(failing(missing)).rejects.toMatchObject({ code: 'ENOENT' });
  }
  await symlink('loop', join(folder, 'loop'));
  await expect(runtime.realpath(join(folder, 'loop'))).rejects.toMatchObject({ code: 'ELOOP' });
  await mkdir(join(folder, 'd'));
  await expect(runtime.writeFile(join(folder, 'd'), '')).rejects.toMatchObject({ code: 'EISDIR' });
});

test('programs are found by path or name; the environment contains no secret', async () => {
  expect(await runtime.which('sh')).toBe('/bin/sh');
  expect(await runtime.which('/bin/sh')).toBe('/bin/sh');
  expect(await runtime.which('/bin/no-such-program')).toBeUndefined();
  expect(await runtime.which('no-such-program')).toBeUndefined();
  await writeFile(join(folder, 'text'), '', { mode: 0o644 });
  expect(await runtime.which(join(folder, 'text'))).toBeUndefined();
  expect(runtime.environment()).toEqual({ PATH: '/nowhere:/bin', X: 'y' });
  expect(runtime.homeDirectory()).toBe(homedir());
});
