import { open, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { etagOf } from '#server/files/etag.ts';
import { fileType } from '#server/files/file-types.ts';
import { openedFile } from '#server/files/opened-file.ts';
import { temporaryHome } from '#support/temporary-home.ts';

let home: string;
beforeEach(async () => {
  home = await temporaryHome();
});

async function opened(name: string, content: string | Uint8Array) {
  await writeFile(join(home, name), content);
  const facts = await openedFile(await open(join(home, name)), join('anywhere', name));
  await facts.file.close();
  return facts;
}

describe('an opened file', () => {
  it('has the metadata of the file and the name of the path', async () => {
    await writeFile(join(home, 'a.TS'), 'text');
    await utimes(join(home, 'a.TS'), 1, 1_700_000_000);
    const file = await open(join(home, 'a.TS'));
    const stats = await stat(join(home, 'a.TS'));
    expect(await openedFile(file, join(home, 'a.TS'))).toEqual({
      file,
      name: 'a.TS',
      size: 4,
      etag: etagOf(stats),
      mime: 'text/typescript',
      modifiedAt: new Date(1_700_000_000_000),
    });
    await file.close();
  });

  it('whose name has no known extension gets its type from its content', async () => {
    for (const [content, mime] of [
      ['plain', 'text/plain'],
      ['', 'text/plain'],
      ['x'.repeat(70_000), 'text/plain'],
      [Buffer.from('\uFEFFx', 'utf16le'), 'application/octet-stream'],
      [Buffer.from([1, 0, 2]), 'application/octet-stream'],
    ] as const) {
      expect(await opened('file', content)).toMatchObject({ name: 'file', mime });
    }
    expect(await opened('file.png', 'not an image')).toMatchObject({ mime: 'image/png' });
  });

  it('is closed where its metadata cannot be read', async () => {
    const file = await open(home);
    await expect(openedFile(file, home)).rejects.toThrow('EISDIR');
    await expect(file.stat()).rejects.toThrow('closed');
  });
});

it('an etag changes with time, size and inode', () => {
  const stats = { mtimeMs: 1_700_000_000_000.7, size: 10, ino: 20 };
  expect(etagOf(stats)).toMatch(/^[\w-]+$/);
  const tags = [
    stats,
    { ...stats, mtimeMs: stats.mtimeMs + 1 },
    { ...stats, size: 11 },
    { ...stats, ino: 21 },
    { ...stats, size: 20, ino: 10 },
  ].map(etagOf);
  expect(new Set(tags).size).toBe(tags.length);
  expect(etagOf({ ...stats, mtimeMs: 1_700_000_000_000.2 })).toBe(tags[0]);
});

it('the type of a file is that of its last extension, in any case', () => {
  expect(fileType('a.tar.Py')).toEqual({ mime: 'text/x-python', languageId: 'python' });
  expect(fileType('x.svg')).toEqual({ mime: 'image/svg+xml' });
  for (const name of ['ts', '.ts', 'a.unknown', 'a.ts~', '']) expect(fileType(name)).toBeUndefined();
});
