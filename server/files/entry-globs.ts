/**
 * Globs of requests that list or search a work directory. A pattern without `/` matches names at any depth; with a `/`
 * it is anchored at the work directory. A final `/` matches only directories, and `a/**` everything below `a`.
 */
import { errorMessage, invalidField } from '#server/errors/service-error.ts';
import { fileGlob, fileGlobBelow, globFault } from './globs.ts';

export interface EntryGlobs {
  /** `path` is relative to the work directory. */
  matches(path: string, isDirectory: boolean): boolean;
  /** True if an entry below the directory could match. */
  reachBelow(directory: string): boolean;
}

interface Compiled {
  directoriesOnly: boolean;
  matches(path: string): boolean;
  below(directory: string): boolean;
}

/** Rewrites `a/**` so that it does not match `a` itself. */
export const onlyBelow = (pattern: string) => pattern.replace(/\/\*\*$/, '/**/*');

function compile(pattern: string): Compiled {
  const bare = pattern.replace(/\/+$/, '');
  if (bare === '') throw new Error('the pattern is empty');
  const fault = globFault(bare);
  if (fault !== undefined) throw new Error(fault);
  const anchored = bare.includes('/') ? onlyBelow(bare.replace(/^\/+/, '')) : `**/${bare}`;
  return { directoriesOnly: bare !== pattern, matches: fileGlob(anchored), below: fileGlobBelow(anchored) };
}

/** Returns undefined for no patterns. Throws `validation.failed` at `<field>.<index>` for an invalid pattern. */
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
