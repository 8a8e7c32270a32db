/** The directory of file actions, and the checks of a path before any file system access. */
import { isAbsolute, win32 } from 'node:path';
import { ServiceError, invalidField } from '#server/errors/service-error.ts';

export interface WorkDirectory {
  /** Absolute; may contain links. */
  readonly root: string;
  /** Further directories that links may lead to. Read at each use: directories are added while sessions run. */
  additionalDirs(): readonly string[] | Promise<readonly string[]>;
}

declare const checked: unique symbol;
/** Relative to the root, `/` between the segments, no `.`, `..` or empty segments; the root is `.`. */
export type RelativePath = string & { readonly [checked]: true };

const rejected = (input: string, why: string) =>
  new ServiceError('fs.path_escapes_session', `path "${input}" rejected (${why})`);

const escapes = (input: string) => new ServiceError('fs.path_escapes_session', `path "${input}" escapes workspace`);

const onWindows = process.platform === 'win32';

/**
 * Validates a path's text without file system access. Throws `validation.failed` at `field` for a NUL character and
 * `fs.path_escapes_session` for an empty or absolute path or a segment `..`, even if it would stay inside.
 */
export function relativePath(input: string, field = 'path'): RelativePath {
  if (input.includes('\0')) throw invalidField(field, 'must not contain a NUL character');
  if (input === '' || input === '/') throw rejected(input, 'empty');
  if (isAbsolute(input)) throw rejected(input, 'absolute');
  if (input.split(/[/\\]/).includes('..')) throw rejected(input, 'dotdot segment');
  // `C:x` is relative to the directory of a drive.
  if (onWindows && win32.parse(input).root !== '') throw escapes(input);
  const segments = input.split(onWindows ? /[/\\]/ : '/').filter((segment) => segment !== '' && segment !== '.');
  return (segments.join('/') || '.') as RelativePath;
}
