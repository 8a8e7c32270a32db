/** The directory that file actions work in, and what a path of theirs may say before the disk is asked. */
import { isAbsolute, win32 } from 'node:path';
import { ServiceError, invalidField } from '#server/errors/service-error.ts';

export interface WorkDirectory {
  /** Absolute; may be reached through links. */
  readonly root: string;
  /** Where links may lead, too. Asked at each use: directories are added while sessions run. */
  additionalDirs(): readonly string[] | Promise<readonly string[]>;
}

declare const checked: unique symbol;
/** Relative to the root, `/` between the segments, without `.`, `..` and empty ones; the root itself is `.`. */
export type RelativePath = string & { readonly [checked]: true };

const rejected = (input: string, why: string) =>
  new ServiceError('fs.path_escapes_session', `path "${input}" rejected (${why})`);

const escapes = (input: string) => new ServiceError('fs.path_escapes_session', `path "${input}" escapes workspace`);

const onWindows = process.platform === 'win32';

/**
 * The rules for a path's text; the disk is not looked at. Throws 40001 at `field` for a NUL character, 41304 for what is
 * empty, absolute or has a segment `..`, even where it would stay inside.
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
