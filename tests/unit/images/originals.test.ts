import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { caption, keepOriginal } from '#server/images/originals.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

let dir: string;
beforeEach(async () => void (dir = await temporaryDirectory()));
afterEach(() => rm(dir, { recursive: true, force: true }));

const png = (text: string) => ({ data: Buffer.from(text), type: 'image/png' });
const nameOf = (text: string) => `${createHash('sha256').update(text).digest('hex').slice(0, 32)}.png`;
const kept = () => readdir(join(dir, 'media-originals')).catch(() => []);

test('stores an original under the hash of its bytes, equal ones as one file', async () => {
  const written: string[] = [];
  const path = await keepOriginal(dir, png('one'), { written });
  expect(path).toBe(join(dir, 'media-originals', nameOf('one')));
  expect(await readFile(path ?? '', 'utf8')).toBe('one');
  expect((await stat(path ?? '')).mode & 0o077).toBe(0);
  expect(await keepOriginal(dir, png('one'), { written })).toBe(path);
  expect(written).toEqual([path]);
});

test('evicts the oldest above the limit, reused ones later, the new one never', async () => {
  const old = new Date(Date.now() - 100_000);
  for (const text of ['first', 'again', 'third']) {
    const path = (await keepOriginal(dir, png(text))) ?? expect.unreachable();
    await utimes(path, old, old);
  }
  await keepOriginal(dir, png('again'));
  await keepOriginal(dir, png('newest!'), { maxBytes: 12 });
  expect((await kept()).toSorted()).toEqual([nameOf('again'), nameOf('newest!')].toSorted());
  await keepOriginal(dir, png('a long one'), { maxBytes: 1 });
  expect(await kept()).toEqual([nameOf('a long one')]);
});

test('a temporary folder that could not be created is tried again', async () => {
  await writeFile(join(dir, 'session'), '');
  vi.stubEnv('TMPDIR', join(dir, 'missing'));
  try {
    expect(await keepOriginal(join(dir, 'session'), png('one'))).toBeUndefined();
  } finally {
    vi.unstubAllEnvs();
  }
  expect(await keepOriginal(join(dir, 'session'), png('one'))).toContain(nameOf('one'));
});

test('uses a folder of the process if the session’s cannot be written', async () => {
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'media-originals'), 'a file');
  const path = (await keepOriginal(dir, png('one'))) ?? expect.unreachable();
  expect(dirname(dirname(path))).toBe(tmpdir());
  expect(await readFile(path, 'utf8')).toBe('one');
  await rm(dirname(path), { recursive: true });
});

test('the caption describes the scaling', () => {
  const original = { ...png('12345'), size: { width: 3000, height: 1500 } };
  const smaller = { data: Buffer.from('123'), type: 'image/jpeg' as const, size: { width: 2000, height: 1000 } };
  expect(caption({ original, smaller }, '/x/y.png')).toBe(
    'The image was made smaller: from image/png, 3000x1500 pixels, 5 bytes, to image/jpeg, 2000x1000 pixels, 3 bytes. The original is at /x/y.png.',
  );
  expect(caption({ original, smaller }, undefined)).not.toContain('original is at');
  expect(caption({ original }, '/x')).toBe('');
});
