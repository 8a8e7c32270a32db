/** Listing directories, with what lies below them if that is wanted. */
import { realpath } from 'node:fs/promises';
import { dirname, relative, sep } from 'node:path';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { entryGlobs } from '#server/files/entry-globs.ts';
import { createIgnoreRules, type DirectoryRules, type IgnoreRules } from '#server/files/ignore-rules.ts';
import { inBatches } from '#server/files/in-batches.ts';
import { within, type Within } from '#server/files/open-within.ts';
import { onPath } from '#server/files/path-error.ts';
import { isInside } from '#server/files/paths.ts';
import { relativePath, type RelativePath, type WorkDirectory } from '#server/files/work-directory.ts';
import type { Git } from '#server/git/git.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { FileEntry } from '#schema/file-entry.ts';
import type { FileList, FileLists, ListFiles, ListManyFiles } from '#schema/file-list.ts';
import { inTime, UnresponsiveError } from './directory-thread.ts';
import { listDirectory, type DirectoryList, type ListOptions } from './list-directory.ts';

/** Of one answer, all its directories together. */
export const MAX_ENTRIES = 10_000;
/** Directories read side by side. */
const WIDTH = 4;

export interface ListDeps {
  /** The server's environment: it names the home of git's global excludes. */
  env: NodeJS.ProcessEnv;
  topOf: Projects['topOf'];
  /** Absent: no marks. */
  gitMarks?: Git['marks'];
  signal: AbortSignal;
}

type Request = Omit<ListFiles, 'path'>;

interface Lister {
  /** Throws 40409, 40411, 41304, 50001 where the file system does not answer. */
  list(path: RelativePath, shown: string): Promise<DirectoryList>;
  /** Adds git marks to finished entries. */
  mark(entries: FileEntry[]): Promise<void>;
}

/** Of a directory below: what cannot be read is left out, but not what hangs. */
function unreadable(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error instanceof UnresponsiveError) throw error;
}

async function createLister(directory: WorkDirectory, request: Request, deps: ListDeps): Promise<Lister> {
  const exclude = entryGlobs(request.exclude_globs, 'exclude_globs');
  const allowIgnored = entryGlobs(request.allow_ignored_globs, 'allow_ignored_globs');
  const inside: Within = await inTime(within(directory));
  let rules: Promise<IgnoreRules> | undefined;
  const { limit, sort, show_hidden: showHidden } = request;
  const marks = request.include_git_status ? deps.gitMarks?.(directory, deps.signal) : undefined;
  // It is waited for at the end; until then nobody else would notice.
  marks?.catch(() => undefined);
  const root = marks && (await onPath('.', () => realpath(directory.root)));
  /** Where listed directories really are, below the root: git knows no path through a link. */
  const places = new Map<string, string>();

  async function rulesAt(path: RelativePath): Promise<DirectoryRules> {
    rules ??= createIgnoreRules(directory, inside, deps);
    return (await rules).at(path);
  }

  function options(path: RelativePath): ListOptions {
    const own = request.follow_gitignore ? inTime(rulesAt(path)) : undefined;
    return { limit, sort, showHidden, rules: own, exclude, allowIgnored, signal: deps.signal };
  }

  return {
    list: (path, shown) =>
      onPath(shown, async () => {
        const place = await inTime(inside.open(path, shown), (late) => late.close());
        try {
          if (root !== undefined && isInside(place.real, root)) {
            places.set(path, relative(root, place.real).split(sep).join('/'));
          }
          return await listDirectory(place, path, options(path));
        } finally {
          await place.close();
        }
      }),
    async mark(entries) {
      const markOf = await marks;
      if (!markOf) return;
      for (const entry of entries) {
        const place = places.get(dirname(entry.path));
        if (place !== undefined)
          entry.git_status = markOf(place === '' ? entry.name : `${place}/${entry.name}`, entry.kind);
      }
    },
  };
}

/** Breadth first, real directories only; what cannot be read is left out. */
async function listBelow(lister: Lister, top: DirectoryList, depth: number, signal: AbortSignal) {
  const children: [string, FileEntry[]][] = [];
  let { truncated } = top;
  let left = MAX_ENTRIES - top.entries.length;
  let level = top.entries;
  for (let at = 2; at <= depth && level.length > 0; at++) {
    const directories = level.filter(({ kind }) => kind === 'directory');
    level = [];
    for (let start = 0; start < directories.length; start += WIDTH) {
      signal.throwIfAborted();
      if (left <= 0) return { children, truncated: true };
      const batch = directories.slice(start, start + WIDTH);
      // Its path was made of names that the system gave.
      const lists = await inBatches(batch, WIDTH, ({ path }) =>
        lister.list(path as RelativePath, path).catch(unreadable),
      );
      for (const [index, list] of lists.entries()) {
        const directory = batch[index];
        if (!list || !directory) continue;
        const entries = list.entries.slice(0, Math.max(0, left));
        left -= entries.length;
        truncated ||= list.truncated || entries.length < list.entries.length;
        children.push([directory.path, entries]);
        for (const entry of entries) level.push(entry);
      }
    }
  }
  return { children, truncated };
}

/** Throws 40001 of a glob, 40409, 40411, 41304, 50001 where the file system does not answer. */
export async function listFiles(directory: WorkDirectory, request: ListFiles, deps: ListDeps): Promise<FileList> {
  const { path: shown, depth } = request;
  const lister = await createLister(directory, request, deps);
  const top = await lister.list(relativePath(shown), shown);
  if (depth === 1) {
    await lister.mark(top.entries);
    return { items: top.entries, truncated: top.truncated };
  }
  const { children, truncated } = await listBelow(lister, top, depth, deps.signal);
  for (const entries of [top.entries, ...children.map(([, entries]) => entries)]) await lister.mark(entries);
  return { items: top.entries, truncated, children_by_path: Object.fromEntries(children) };
}

/** What a path that cannot be listed is told with. */
function partialError(error: unknown): { code: number; msg: string } {
  if (error instanceof ServiceError) return { code: error.code, msg: error.message };
  return { code: 50001, msg: errorMessage(error) };
}

/** Each path as `listFiles` does it at depth 1; one that fails does not fail the others. Throws 40001 of a glob. */
export async function listManyFiles(
  directory: WorkDirectory,
  request: ListManyFiles,
  deps: ListDeps,
): Promise<FileLists> {
  const lister = await createLister(directory, request, deps);
  const paths = [...new Set(request.paths)];
  const answers = await inBatches(paths, WIDTH, async (shown) => {
    deps.signal.throwIfAborted();
    try {
      const { entries, truncated } = await lister.list(relativePath(shown), shown);
      await lister.mark(entries);
      return { shown, entries, truncated };
    } catch (error) {
      deps.signal.throwIfAborted();
      return { shown, error: partialError(error) };
    }
  });
  return {
    results: Object.fromEntries(answers.flatMap(({ shown, entries }) => (entries ? [[shown, entries]] : []))),
    truncated_paths: answers.flatMap(({ shown, truncated }) => (truncated ? [shown] : [])),
    partial_errors: Object.fromEntries(answers.flatMap(({ shown, error }) => (error ? [[shown, error]] : []))),
  };
}
