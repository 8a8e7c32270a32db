import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, renameSync, writeFileSync } from 'node:fs';
import fs, { chmod, mkdtemp, open, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { openToken, rotateToken } from '#server/auth/token.ts';
import { StartError } from '#server/errors/start-error.ts';

let home: string;
let path: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'service-code-'));
  path = join(home, 'server.token');
});
afterEach(() => rm(home, { recursive: true }));

it('generates 43 characters, mode 0600, no newline', async () => {
  const token = await (await openToken(home)).current();
  expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(await readFile(path, 'utf8')).toBe(token);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it('fills an empty file, and does not change a full one', async () => {
  await writeFile(path, '', { mode: 0o600 });
  const token = await (await openToken(home)).current();
  expect(token).toHaveLength(43);
  expect(await (await openToken(home)).current()).toBe(token);
});

it('agrees between servers that start concurrently', async () => {
  const files = await Promise.all(Array.from({ length: 8 }, () => openToken(home)));
  const tokens = await Promise.all(files.map((file) => file.current()));
  expect(new Set(tokens)).toEqual(new Set([await readFile(path, 'utf8')]));
  expect(await readdir(home)).toEqual(['server.token']);
});

/** Observes a function of `node:fs/promises` until the test ends. */
function spyOnFs<Name extends 'link' | 'open'>(name: Name) {
  const spy = vi.spyOn(fs, name);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return spy;
}

it('fails with the reason where the file cannot be created', async () => {
  const nowhere = join(home, 'nowhere');
  await expect(openToken(nowhere)).rejects.toMatchObject({
    code: 'ENOENT',
    syscall: 'open',
    path: expect.stringContaining('.tmp-'),
  });
  const failure = Object.assign(new Error('EPERM: operation not permitted, link'), { code: 'EPERM' });
  spyOnFs('link').mockRejectedValueOnce(failure);
  await expect(openToken(home)).rejects.toBe(failure);
  expect(await readdir(home)).toEqual([]);
});

it('reads the file only after a change, including one in place, and closes it', async () => {
  const file = await openToken(home);
  const opened = spyOnFs('open');
  const token = await file.current();
  expect(await file.current()).toBe(token);
  expect(opened).not.toHaveBeenCalled();
  await writeFile(path, 'x'.repeat(token.length));
  await utimes(path, 0, 0);
  opened.mockClear();
  expect(await file.current()).toBe('x'.repeat(token.length));
  expect(await file.current()).toBe('x'.repeat(token.length));
  expect(opened).toHaveBeenCalledTimes(1);
  for (const { value } of opened.mock.settledResults) expect(value).toMatchObject({ fd: -1 });
});

it('can be rotated where no token exists yet, also with open connections kept', async () => {
  const token = await rotateToken(home, { keepConnections: true });
  expect(await (await openToken(home)).current()).toBe(token);
});

it('keeps connections over the rotation that requested it and no other, and writes no token elsewhere', async () => {
  const file = await openToken(home);
  const first = await file.current();
  const second = await rotateToken(home);
  expect(await file.keepsConnections(first, second)).toBe(false);
  const third = await rotateToken(home, { keepConnections: true });
  expect(await file.keepsConnections(second, third)).toBe(true);
  expect(await file.keepsConnections(first, third)).toBe(false);
  expect(await file.keepsConnections(third, second)).toBe(false);
  const kept = join(home, 'server.token.kept');
  expect((await stat(kept)).mode & 0o777).toBe(0o600);
  for (const token of [second, third]) expect(await readFile(kept, 'utf8')).not.toContain(token);
});

it('adopts a rotation at the next check', async () => {
  const file = await openToken(home);
  const rotated = await rotateToken(home);
  expect(await file.current()).toBe(rotated);
});

it('never answers a check with a token older than the check', async () => {
  const file = await openToken(home);
  for (let round = 0; round < 30; round += 1) {
    const early = [file.current(), file.current()];
    const rotated = await rotateToken(home);
    expect(await file.current()).toBe(rotated);
    await Promise.all(early);
  }
});

it('returns the last valid token while the file is missing, empty or too open', async () => {
  const file = await openToken(home);
  const token = await file.current();
  await rm(path);
  expect(await file.current()).toBe(token);
  await writeFile(path, '', { mode: 0o600 });
  expect(await file.current()).toBe(token);
  await writeFile(path, 'other');
  await chmod(path, 0o644);
  expect(await file.current()).toBe(token);
  await chmod(path, 0o600);
  await writeFile(path, ' trimmed\n');
  expect(await file.current()).toBe('trimmed');
});

it('refuses to start on a file that other users may read', async () => {
  await writeFile(path, 'x');
  await chmod(path, 0o640);
  await expect(openToken(home)).rejects.toThrow(StartError);
  await expect(openToken(home)).rejects.toThrow(/server\.token has mode 0640, expected 0600/);
});

it('refuses to start on a pipe, and returns the last valid token if the file becomes one, or a device', async () => {
  execFileSync('mkfifo', [path]);
  await expect(openToken(home)).rejects.toThrow(StartError);
  await rm(path);
  const file = await openToken(home);
  const token = await file.current();
  await rm(path);
  execFileSync('mkfifo', ['-m', '600', path]);
  expect(await file.current()).toBe(token);
  await rm(path);
  await symlink('/dev/zero', path);
  expect(await file.current()).toBe(token);
});

it('returns the last valid token while the file system does not respond, then adopts the file again', async () => {
  const file = await openToken(home);
  const token = await file.current();
  const pipe = join(home, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const threads = Number(process.env.UV_THREADPOOL_SIZE) || 4;
  const blocked = Array.from({ length: threads }, () => open(pipe, 'r'));

  const timed = async () => {
    const begun = performance.now();
    return { token: await file.current(), ms: performance.now() - begun };
  };
  // Concurrent calls wait for the same check, and no longer than it takes.
  const first = await Promise.all([timed(), timed(), timed()]);
  expect(first.map((check) => check.token)).toEqual([token, token, token]);
  for (const { ms } of first) expect(ms).toBeLessThan(3000);
  // Later calls do not wait for the check that hangs.
  let immediate = true;
  const timer = setTimeout(() => (immediate = false), 500);
  for (let n = 0; n < 20; n += 1) expect(await file.current()).toBe(token);
  expect(immediate).toBe(true);
  clearTimeout(timer);

  writeFileSync(`${path}.new`, 'another', { mode: 0o600 });
  renameSync(`${path}.new`, path);
  closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
  for (const handle of await Promise.all(blocked)) await handle.close();
  await expect.poll(() => file.current()).toBe('another');
  expect(await rotateToken(home)).toBe(await file.current());
});
