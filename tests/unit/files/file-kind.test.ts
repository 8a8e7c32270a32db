import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { directoryFault, regularFileProblem } from '#server/files/file-kind.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const rejecting = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));

describe('a directory', () => {
  test('its faults', async () => {
    const home = await temporaryHome();
    await mkdir(join(home, 'd'));
    await writeFile(join(home, 'f'), '');
    await symlink('d', join(home, 'link'));
    expect(await directoryFault(join(home, 'd'), stat)).toBeUndefined();
    expect(await directoryFault(join(home, 'link'), stat)).toBeUndefined();
    expect(await directoryFault(join(home, 'f'), stat)).toBe('not a directory');
    expect(await directoryFault(join(home, 'f/below'), stat)).toBe('missing');
    expect(await directoryFault('d', stat)).toBe('missing');
    expect(await directoryFault('/a\0b', stat)).toBe('missing');
    expect(await directoryFault('/x', rejecting('EACCES'))).toBe('forbidden');
    await expect(directoryFault('/x', rejecting('EIO'))).rejects.toThrow('EIO');
  });

  test('on Windows an absolute path begins with a drive', async () => {
    vi.resetModules();
    vi.doMock('node:path', async () => (await vi.importActual<typeof import('node:path')>('node:path')).win32);
    const { directoryFault: onWindows } = await import('#server/files/file-kind.ts');
    vi.doUnmock('node:path');
    const directory = () => Promise.resolve({ isDirectory: () => true });
    expect(await onWindows('C:\\work', directory)).toBeUndefined();
    expect(await onWindows('\\\\server\\share', directory)).toBeUndefined();
    expect(await onWindows('C:work', directory)).toBe('missing');
  });
});

test('a regular file', async () => {
  const home = await temporaryHome();
  await writeFile(join(home, 'f'), '');
  expect(regularFileProblem('f', await stat(join(home, 'f')))).toBeUndefined();
  expect(regularFileProblem('d', await stat(home))).toBe('d is a directory.');
  expect(regularFileProblem('/dev/null', await stat('/dev/null'))).toBe('/dev/null is not a regular file.');
});
