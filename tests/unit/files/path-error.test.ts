import { describe, expect, it } from 'vitest';
import { ServiceError } from '#server/errors/service-error.ts';
import { onPath, pathError } from '#server/files/path-error.ts';

const failure = (code: string) => Object.assign(new Error(`${code}: /secret/place`), { code });

describe('pathError', () => {
  it.each([
    ['ENOENT', 'fs.path_not_found', 'path not found: a/b'],
    ['ENOTDIR', 'fs.path_not_found', 'path not found: a/b'],
    ['ELOOP', 'fs.path_not_found', 'path not found: a/b'],
    ['EACCES', 'fs.permission_denied', 'permission denied: a/b'],
    ['EPERM', 'fs.permission_denied', 'permission denied: a/b'],
    ['EEXIST', 'fs.already_exists', 'path already exists: a/b'],
    ['EISDIR', 'fs.is_directory', 'path is a directory: a/b'],
    ['EIO', 'internal.error', 'the system refuses this path: a/b'],
  ])('%s becomes %s and shows only the path of the request', (code, name, message) => {
    expect(pathError(failure(code), 'a/b')).toMatchObject({ name, message });
  });

  it.each(['EACCES', 'EPERM', 'EIO'])('%s keeps its cause for the log', (code) => {
    const cause = failure(code);
    expect(pathError(cause, 'a')).toMatchObject({ cause });
  });

  it('a path that is too long is an invalid field', () => {
    const details = (path: string) => [{ path, message: 'path is too long' }];
    expect(pathError(failure('ENAMETOOLONG'), 'a')).toMatchObject({
      name: 'validation.failed',
      details: details('path'),
    });
    expect(pathError(failure('ENAMETOOLONG'), 'a', 'paths.2')).toMatchObject({ details: details('paths.2') });
  });

  it('other errors are unchanged', () => {
    for (const error of [new ServiceError('fs.path_not_found', 'x'), new Error('a bug'), undefined]) {
      expect(pathError(error, 'a')).toBe(error);
    }
  });
});

it('onPath maps the errors of its work and returns its result', async () => {
  expect(await onPath('a', async () => 1)).toBe(1);
  const failed = onPath('a', () => Promise.reject(failure('ENAMETOOLONG')), 'paths.1');
  await expect(failed).rejects.toMatchObject({ details: [{ path: 'paths.1' }] });
});
