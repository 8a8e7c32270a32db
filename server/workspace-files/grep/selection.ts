/** Selects the files of a work directory to search, in addition to ignore files. */
import type { GrepRequest } from '#schema/rest/grep.ts';
import { entryGlobs } from '#server/files/entry-globs.ts';
import { fileGlob } from '#server/files/globs.ts';

/** Never searched, regardless of the options for ignored files. */
export const GIT_DIRECTORY = '.git';

export interface Selection {
  /** Whether a directory is entered. */
  enters(path: string): boolean;
  /** Whether a file is searched, if its directories are entered. */
  takes(path: string): boolean;
  /** Whether a file's directories are entered and it is searched. */
  includes(path: string): boolean;
  /** Whether some hidden files are requested. */
  readonly namesHidden: boolean;
}

/** Returns the segments of globs that request hidden names: with a literal dot at the start. */
const hiddenSegments = (globs: readonly string[]) =>
  globs.flatMap((glob) => glob.split('/').filter((segment) => /(^|[{,])\\?\./.test(segment)));

/** Throws `validation.failed` at the field of an invalid glob. */
export function createSelection(request: Pick<GrepRequest, 'include_globs' | 'exclude_globs'>): Selection {
  const include = entryGlobs(request.include_globs, 'include_globs');
  const exclude = entryGlobs(request.exclude_globs, 'exclude_globs');
  const named = hiddenSegments(request.include_globs ?? []).map((segment) => fileGlob(segment));
  const shows = (name: string) => !name.startsWith('.') || named.some((matches) => matches(name));

  const enters = (path: string) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return name !== GIT_DIRECTORY && shows(name) && !exclude?.matches(path, true);
  };
  const takes = (path: string) => {
    const name = path.slice(path.lastIndexOf('/') + 1);
    return (
      name !== GIT_DIRECTORY && shows(name) && !exclude?.matches(path, false) && (include?.matches(path, false) ?? true)
    );
  };
  return {
    enters,
    takes,
    includes(path) {
      for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
        if (!enters(path.slice(0, end))) return false;
      }
      return takes(path);
    },
    namesHidden: named.length > 0,
  };
}

/** Names and paths with stars, classes and alternatives, as in nearly all globs; ripgrep's `?` matches one byte. */
const COMMON = /^(?![!#])(?:[\w.@+~/-]|\*|\[[\w.-]+\]|\{[\w.@+~*,-]+\})+$/;

/** Returns the globs for which ripgrep certainly excludes no more than we do; our globs filter its results. */
export const commonGlobs = (globs: readonly string[] = []): string[] =>
  globs.filter((glob) => COMMON.test(glob) && !/[^/]\*\*|\*\*[^/]/.test(glob));
