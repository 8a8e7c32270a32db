/** `fs:read`, `fs:stat`, `fs:stat_many` and `fs:mkdir` over a real server. */
import { execFileSync } from 'node:child_process';
import { readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileContentSchema, type FileContent } from '#schema/rest/file-content.ts';
import { startFilesSession, type FilesSession } from '#support/files-session.ts';

let session: FilesSession;
let root: string;
beforeAll(async () => {
  session = await startFilesSession();
  ({ root } = session);
});
afterAll(() => session.close());

const read = async (path: string, more: Record<string, unknown> = {}): Promise<FileContent> =>
  fileContentSchema.parse(await session.ok('read', { path, ...more }));

async function file(name: string, content: string | Uint8Array): Promise<string> {
  await writeFile(join(root, name), content);
  return name;
}

describe('fs:read', () => {
  it('reads text with its attributes', async () => {
    await file('a.ts', 'one\ntwo\n');
    const entry = await session.ok('stat', { path: 'a.ts' });
    expect(await read('./a.ts')).toEqual({
      path: 'a.ts',
      content: 'one\ntwo\n',
      encoding: 'utf-8',
      size: 8,
      truncated: false,
      etag: (entry as { etag: string }).etag,
      mime: 'text/typescript',
      is_binary: false,
      language_id: 'typescript',
      line_count: 2,
    });
    expect(await read(await file('plain', 'x'))).toMatchObject({ mime: 'text/plain', line_count: 1 });
    const empty = await read(await file('empty', ''));
    expect(empty).toMatchObject({ content: '', size: 0, truncated: false, line_count: 0, is_binary: false });
    expect(empty).not.toHaveProperty('language_id');
  });

  it('does not split characters between windows, which join without loss', async () => {
    const text = '\uFEFF中文a\u{1F600}é';
    for (const bytes of [
      Buffer.from(text),
      Buffer.from([0xe4, 0xb8, 0x61, 0x80, 0x80, 0xf0, 0x9f, 0xe4, 0xb8, 0xad]),
    ]) {
      await file('windows.txt', bytes);
      const whole = (await read('windows.txt', { encoding: 'utf-8' })).content;
      for (const length of [1, 2, 3, 4, 5, 7]) {
        let joined = '';
        for (let offset = 0; ; offset += length) {
          const part = await read('windows.txt', { offset, length });
          joined += part.content;
          expect(Buffer.byteLength(part.content)).toBeLessThanOrEqual(bytes.length < 12 ? 99 : length + 3);
          if (!part.truncated) break;
        }
        expect(joined).toBe(whole);
      }
    }
    expect(await read('windows.txt', { offset: 999 })).toMatchObject({ content: '', truncated: false });
  });

  it.each([
    ['utf-16le', Buffer.from('\uFEFFgrüße\n中文', 'utf16le'), 'grüße\n中文'],
    ['utf-16be', Buffer.from('\uFEFFgrüße', 'utf16le').swap16(), 'grüße'],
    ['utf-16le without a mark', Buffer.from('plain words', 'utf16le'), 'plain words'],
    ['latin-1', Buffer.from('déjà vu, naïve façade', 'latin1'), 'déjà vu, naïve façade'],
  ])('returns %s as text', async (_name, bytes, text) => {
    await file('other', bytes);
    for (const encoding of ['auto', 'utf-8']) {
      expect(await read('other', { encoding })).toMatchObject({
        content: text,
        encoding: 'utf-8',
        is_binary: false,
        size: bytes.length,
        mime: 'application/octet-stream',
      });
    }
    expect(await read('other', { encoding: 'base64' })).toMatchObject({
      content: bytes.toString('base64'),
      encoding: 'base64',
      is_binary: true,
    });
    // Windows are measured in bytes of the UTF-8 form.
    const utf8 = Buffer.from(text);
    const [head, tail] = [await read('other', { length: 3 }), await read('other', { offset: 3 })];
    expect(head.truncated).toBe(true);
    expect(Buffer.from(head.content + tail.content)).toEqual(utf8);
  });

  it('returns binary files as base64, or not at all', async () => {
    const bytes = Buffer.from([1, 0, 2, 0, 0, 3, 250]);
    await file('b.png', bytes);
    const answer = await read('b.png', { offset: 2, length: 3 });
    expect(answer).toMatchObject({ encoding: 'base64', is_binary: true, mime: 'image/png', truncated: true });
    expect(Buffer.from(answer.content, 'base64')).toEqual(bytes.subarray(2, 5));
    expect(answer).not.toHaveProperty('line_count');
    expect(await session.fs('read', { path: 'b.png', encoding: 'utf-8' })).toMatchObject({
      code: 40907,
      msg: 'file is binary: b.png',
    });
    expect(await read('a.ts', { encoding: 'base64' })).toMatchObject({ is_binary: false, encoding: 'base64' });
  });

  it('accepts files of up to 10 MiB', async () => {
    await file('large', '');
    await truncate(join(root, 'large'), 10_485_761);
    expect(await session.fs('read', { path: 'large', length: 1 })).toMatchObject({
      code: 41302,
      msg: 'file too large: large (10485761 bytes > 10485760)',
    });
    await truncate(join(root, 'large'), 10_485_760);
    expect(await read('large', { length: 1 })).toMatchObject({ size: 10_485_760, truncated: true });
  });

  it('requires a regular file, and does not block on a pipe', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await symlink('/dev/zero', join(root, 'zero'));
    expect(await session.fs('read', { path: '.' })).toMatchObject({ code: 40906, msg: 'path is a directory: .' });
    expect(await session.fs('read', { path: 'pipe' })).toMatchObject({ code: 40409 });
    expect(await session.ok('stat', { path: 'pipe' })).toMatchObject({ kind: 'file' });
    expect(await session.fs('read', { path: 'zero' })).toMatchObject({ code: 41304 });
    expect(await session.fs('read', { path: 'a.ts/' })).toMatchObject({ code: 0 });
  });

  it.each([
    [{ path: '' }, 'path'],
    [{ path: 'a', offset: -1 }, 'offset'],
    [{ path: 'a', length: 0 }, 'length'],
    [{ path: 'a', length: 10_485_761 }, 'length'],
    [{ path: 'a', encoding: 'latin1' }, 'encoding'],
  ])('refuses %o', async (body, field) => {
    expect(await session.fs('read', body)).toMatchObject({ code: 40001, details: [{ path: field }] });
  });
});

describe('fs:stat and fs:stat_many', () => {
  it('returns the work directory by its name', async () => {
    const { size: _size, ...entry } = { size: 0, ...((await session.ok('stat', { path: '.' })) as object) };
    expect(entry).toMatchObject({ path: '.', name: 'work', kind: 'directory' });
    expect(entry).not.toHaveProperty('mime');
  });

  it('does not read the file for its type', async () => {
    await file('x.unknown', Buffer.from([0, 1, 0]));
    expect(await session.ok('stat', { path: 'x.unknown' })).toMatchObject({ mime: 'text/plain' });
    await file('X.TSX', '');
    expect(await session.ok('stat', { path: 'X.TSX' })).toMatchObject({ language_id: 'typescriptreact' });
  });

  it('returns many paths, null for missing ones', async () => {
    const paths = ['./a.ts', 'missing', '.', 'a.ts/below'];
    const { entries } = (await session.ok('stat_many', { paths })) as { entries: Record<string, unknown> };
    expect(Object.keys(entries).toSorted()).toEqual(paths.toSorted());
    expect(entries).toMatchObject({ './a.ts': { path: 'a.ts', size: 8 }, missing: null, 'a.ts/below': null });
    expect(entries['./a.ts']).not.toHaveProperty('mime');
  });

  it('fails as a whole with the first path that leads outside', async () => {
    await symlink(session.outside, join(root, 'out'));
    expect(await session.fs('stat_many', { paths: ['a.ts', 'out/x', '../y'] })).toMatchObject({
      code: 41304,
      msg: 'path "out/x" escapes workspace through a symlink',
    });
  });
});

describe('fs:mkdir', () => {
  const make = (path: string, recursive?: boolean) =>
    session.fs('mkdir', { path, ...(recursive === undefined ? {} : { recursive }) });

  it('creates one directory, and parents on request', async () => {
    expect(await make('new')).toMatchObject({ code: 0, data: { path: 'new', name: 'new', kind: 'directory' } });
    expect(await make('x/y/z')).toMatchObject({ code: 40409, msg: 'parent not found: x/y/z' });
    expect(await make('x/y/z', true)).toMatchObject({ code: 0, data: { path: 'x/y/z', name: 'z' } });
    expect((await stat(join(root, 'x/y/z'))).mode & 0o777).toBe(0o777 & ~process.umask());
  });

  it('reports an existing path', async () => {
    await symlink('nowhere', join(root, 'broken'));
    await symlink('new', join(root, 'to-new'));
    for (const path of ['new', '.', 'a.ts', 'broken', 'to-new']) {
      expect(await make(path)).toMatchObject({ code: 40919, msg: `path already exists: ${path}` });
    }
    expect(await make('new', true)).toMatchObject({ code: 0, data: { path: 'new' } });
    expect(await make('.', true)).toMatchObject({ code: 0, data: { path: '.', name: 'work' } });
    for (const path of ['a.ts', 'broken', 'to-new']) expect(await make(path, true)).toMatchObject({ code: 40919 });
    for (const recursive of [false, true]) {
      expect(await make('a.ts/x', recursive)).toMatchObject({ code: 40409 });
      expect(await make('broken/x', recursive)).toMatchObject({ code: 40409 });
    }
  });

  it('creates no directory outside', async () => {
    for (const recursive of [false, true]) {
      expect(await make('out/x', recursive)).toMatchObject({ code: 41304 });
      expect(await make('out', recursive)).toMatchObject({ code: 41304 });
    }
    await expect(stat(join(session.outside, 'x'))).rejects.toThrow('ENOENT');
    expect(await make('to-new/inner')).toMatchObject({ code: 0, data: { path: 'to-new/inner' } });
    expect(await readFile(join(root, 'a.ts'), 'utf8')).toBe('one\ntwo\n');
    await rm(join(root, 'new'), { recursive: true });
  });
});
