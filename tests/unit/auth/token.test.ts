import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openToken, rotateToken } from '#server/auth/token.ts';
import { StartError } from '#server/start-error.ts';

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

it('fills an empty file, keeps a full one', async () => {
  await writeFile(path, '', { mode: 0o600 });
  const token = await (await openToken(home)).current();
  expect(token).toHaveLength(43);
  expect(await (await openToken(home)).current()).toBe(token);
});

it('agrees between servers that start at once', async () => {
  const files = await Promise.all(Array.from({ length: 8 }, () => openToken(home)));
  const tokens = await Promise.all(files.map((file) => file.current()));
  expect(new Set(tokens)).toEqual(new Set([await readFile(path, 'utf8')]));
});

it('adopts a rotation at the next check', async () => {
  const file = await openToken(home);
  const rotated = await rotateToken(home);
  expect(await file.current()).toBe(rotated);
});

it('never answers a check with a file older than the check', async () => {
  const file = await openToken(home);
  for (let round = 0; round < 30; round += 1) {
    const early = [file.current(), file.current()];
    const rotated = await rotateToken(home);
    expect(await file.current()).toBe(rotated);
    await Promise.all(early);
  }
});

it('keeps the last good token while the file is missing, empty or too open', async () => {
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

it('refuses to start on a file that others may read', async () => {
  await writeFile(path, 'x');
  await chmod(path, 0o640);
  await expect(openToken(home)).rejects.toThrow(StartError);
  await expect(openToken(home)).rejects.toThrow(/server\.token has mode 0640, expected 0600/);
});
