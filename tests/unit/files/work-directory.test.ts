import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { relativePath } from '#server/files/work-directory.ts';

const rejected = (msg: string) => expect.objectContaining({ name: 'fs.path_escapes_session', message: msg });

describe('relativePath', () => {
  it.each([
    ['a', 'a'],
    ['a/b.ts', 'a/b.ts'],
    ['./a//b/./c/', 'a/b/c'],
    ['.', '.'],
    ['./', '.'],
    ['...', '...'],
    ['..a/b..', '..a/b..'],
    ['a\\b', 'a\\b'],
    ['C:x', 'C:x'],
    ['~', '~'],
  ])('%j becomes %j', (input, path) => expect(relativePath(input)).toBe(path));

  it.each([
    ['', 'empty'],
    ['/', 'empty'],
    ['/a', 'absolute'],
    ['//', 'absolute'],
    ['..', 'dotdot segment'],
    ['a/..', 'dotdot segment'],
    ['a/../b', 'dotdot segment'],
    ['a\\..\\b', 'dotdot segment'],
  ])('refuses %j: %s', (input, why) => {
    expect(() => relativePath(input)).toThrow(rejected(`path "${input}" rejected (${why})`));
  });

  it('names the field of a path with a NUL character', () => {
    const failed = (path: string) =>
      expect.objectContaining({
        name: 'validation.failed',
        details: [{ path, message: 'must not contain a NUL character' }],
      });
    expect(() => relativePath('a\0')).toThrow(failed('path'));
    expect(() => relativePath('/\0', 'paths.3')).toThrow(failed('paths.3'));
  });
});

describe('relativePath on Windows', () => {
  let onWindows: typeof relativePath;
  const platform = vi.spyOn(process, 'platform', 'get');
  beforeAll(async () => {
    vi.resetModules();
    platform.mockReturnValue('win32');
    vi.doMock('node:path', async () => (await vi.importActual<typeof import('node:path')>('node:path')).win32);
    ({ relativePath: onWindows } = await import('#server/files/work-directory.ts'));
  });
  afterAll(() => {
    vi.doUnmock('node:path');
    platform.mockRestore();
    vi.resetModules();
  });

  it('accepts both separators', () => expect(onWindows('a\\b/.\\c')).toBe('a/b/c'));

  it('refuses paths of drives and shares', () => {
    for (const [path, why] of [
      ['C:x', 'escapes workspace'],
      ['C:\\x', 'rejected (absolute)'],
      ['\\\\server\\share\\x', 'rejected (absolute)'],
      ['a\\..', 'rejected (dotdot segment)'],
    ]) {
      const expected = { name: 'fs.path_escapes_session', message: `path "${path}" ${why}` };
      expect(() => onWindows(path ?? '')).toThrow(expect.objectContaining(expected));
    }
  });
});
