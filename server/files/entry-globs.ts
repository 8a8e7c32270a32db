/**
 * The globs of requests that list or search a work directory. A pattern without `/` matches names at any depth, with
 * one it is anchored at the work directory; a final `/` asks for a directory, and `a/**` is what lies below `a`.
 */
import { errorMessage, invalidField } from '#server/errors/service-error.ts';
import { fileGlob, fileGlobBelow, globFault } from './globs.ts';

export interface EntryGlobs {
  /** `path` is relative to the work directory. */
  matches(path: string, isDirectory: boolean): boolean;
  /** Whether something below the directory could match. */
  reachBelow(directory: string): boolean;
}

interface Compiled {
  directoriesOnly: boolean;
  matches(path: string): boolean;
  below(directory: string): boolean;
}

/** `a/**` without `a` itself. */
export const onlyBelow = (pattern: string) => pattern.replace(/\/\*\*$/, '/**/*');

function compile(pattern: string): Compiled {
  const bare = pattern.replace(/\/+$/, '');
  if (bare === '') throw new Error('the pattern is empty');
  const fault = globFault(bare);
  if (fault !== undefined) throw new Error(fault);
  const anchored = bare.includes('/') ? onlyBelow(bare.replace(/^\/+/, '')) : `**/${bare}`;
  return { directoriesOnly: bare !== pattern, matches: fileGlob(anchored), below: fileGlobBelow(anchored) };
}

/** Undefined for no patterns at all. Throws 40001 at `<field>.<index>` for one that makes no sense. */
export function entryGlobs(patterns: readonly string[] | undefined, field: string): EntryGlobs | undefined {
  if (!patterns || patterns.length === 0) return undefined;
  const compiled = patterns.map((pattern, index) => {
    try {
      return compile(pattern);
    } catch (error) {
      throw invalidField(`${field}.${index}`, `invalid glob: ${errorMessage(error)}`);
    }
  });
  return {
    matches: (path, isDirectory) =>
      compiled.some((glob) => (isDirectory || !glob.directoriesOnly) && glob.matches(path)),
    reachBelow: (directory) => compiled.some((glob) => glob.below(directory)),
  };
}
