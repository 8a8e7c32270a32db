/** Which files of a work directory a request wants searched, beside what is ignored. */
import type { GrepRequest } from '#schema/grep.ts';
import { entryGlobs } from '#server/files/entry-globs.ts';
import { fileGlob } from '#server/files/globs.ts';

/** Never searched, whatever is said about ignored files. */
export const GIT_DIRECTORY = '.git';

export interface Selection {
  /** Of a directory: whether it is entered. */
  enters(path: string): boolean;
  /** Of a file whose directories are entered. */
  takes(path: string): boolean;
  /** Of a file: whether its directories are entered and it is taken. */
  includes(path: string): boolean;
  /** Some hidden file may be wanted. */
  readonly namesHidden: boolean;
}

/** Segments of a glob that ask for hidden names: with a dot where the name has it. */
const hiddenSegments = (globs: readonly string[]) =>
  globs.flatMap((glob) => glob.split('/').filter((segment) => /(^|[{,])\\?\./.test(segment)));

/** Throws 40001 at the field of a glob that makes no sense. */
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

/** Names and paths with stars, classes and choices, which nearly all globs are; `?` is one byte to ripgrep. */
const COMMON = /^(?![!#])(?:[\w.@+~/-]|\*|\[[\w.-]+\]|\{[\w.@+~*,-]+\})+$/;

/** Only globs of which ripgrep certainly leaves out no more than we do; ours decide about what it finds. */
export const commonGlobs = (globs: readonly string[] = []): string[] =>
  globs.filter((glob) => COMMON.test(glob) && !/[^/]\*\*|\*\*[^/]/.test(glob));
