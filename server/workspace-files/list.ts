/** Lists directories, optionally with the levels below them. */
import { realpath } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { createTimeSlice } from '#server/async/yield.ts';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { entryGlobs } from '#server/files/entry-globs.ts';
import { createIgnoreRules } from '#server/ignore-rules/ignore-rules.ts';
import type { IgnoreTexts } from '#server/ignore-rules/ignore-texts.ts';
import { mapLimit } from '#server/async/map-limit.ts';
import { parentOf, within, type OpenPath, type Within } from '#server/files/open-within.ts';
import { onPath } from '#server/files/path-error.ts';
import { isInside } from '#server/files/paths.ts';
import { relativePath, type RelativePath, type WorkDirectory } from '#server/files/work-directory.ts';
import type { Git } from '#server/git/git.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { FileEntry } from '#schema/rest/file-entry.ts';
import type { FileList, FileLists, ListFiles, ListManyFiles } from '#schema/rest/file-list.ts';
import { readLevel, type WholeDirectory } from './directory-reader.ts';
import { inTime } from './directory-thread.ts';
import { listDirectory, listEntries, wantedFacts, type DirectoryList, type ListOptions } from './list-directory.ts';

/** Limit of one reply, all its directories together. */
export const MAX_ENTRIES = 10_000;
/** Directories listed concurrently. */
const WIDTH = 4;
/** Directories per message, a multiple of `WIDTH`: the thread reads the next ones while these are filtered. */
const LEVEL_PORTION = 16;

export interface ListDeps {
  /** The server's environment: it locates the home of git's global excludes. */
  env: NodeJS.ProcessEnv;
  topOf: Projects['topOf'];
  /** Undefined: no marks. */
  gitMarks?: Git['marks'];
  signal: AbortSignal;
}

type Request = Omit<ListFiles, 'path'>;

interface Lister {
  /**
   * Opens a directory for `work`. Throws `fs.path_not_found`, `fs.permission_denied`, `fs.path_escapes_session`, and
   * `internal.error` where the file system does not answer, also for errors of `work`.
   */
  open<Result>(path: RelativePath, shown: string, work: (place: OpenPath) => Promise<Result>): Promise<Result>;
  /** Lists an opened directory. Rejects with the system's errors. */
  list(place: OpenPath, path: RelativePath): Promise<DirectoryList>;
  /**
   * Lists directories below an opened one, by their index, with prefetching. Undefined for unreadable ones. Throws
   * `internal.error` where the file system does not answer.
   */
  below(top: OpenPath, path: RelativePath, directories: readonly RelativePath[]): LevelLister;
  /** Adds git marks to finished entries. */
  mark(entries: FileEntry[]): Promise<void>;
}

interface LevelLister {
  /** Called in the order of the directories, up to `WIDTH` concurrently. */
  list(index: number): Promise<DirectoryList | undefined>;
  /** Must be awaited before the parent directory is closed. */
  end(): Promise<void>;
}

/** Omits an unreadable subdirectory, but rethrows the error of one that hangs, and of a thread that has ended. */
function unreadable(error: unknown): undefined {
  if (!(error instanceof ServiceError) || error.name === 'internal.error') throw error;
}

async function createLister(directory: WorkDirectory, request: Request, deps: ListDeps): Promise<Lister> {
  const exclude = entryGlobs(request.exclude_globs, 'exclude_globs');
  const allowIgnored = entryGlobs(request.allow_ignored_globs, 'allow_ignored_globs');
  const inside: Within = await inTime(within(directory));
  const { limit, sort, show_hidden: showHidden, follow_gitignore: ignoreFiles } = request;
  const shared = { limit, sort, showHidden, exclude, allowIgnored, slice: createTimeSlice(), signal: deps.signal };
  const wanted = { most: wantedFacts(shared), ignoreFiles };
  const rules = ignoreFiles ? createIgnoreRules(directory, inside, deps) : undefined;
  // `marks` is awaited at the end: an earlier rejection must not be unhandled.
  const marks = request.include_git_status ? deps.gitMarks?.(directory, deps.signal) : undefined;
  marks?.catch(() => undefined);
  const root = marks && (await onPath('.', () => realpath(directory.root)));
  /** Real paths of listed directories, relative to the root: git knows no path through a link. */
  const places = new Map<string, string>();

  function notePlace(path: RelativePath, real: string): void {
    if (root !== undefined && isInside(real, root)) places.set(path, relative(root, real).split(sep).join('/'));
  }

  function options(path: RelativePath, texts?: IgnoreTexts): ListOptions {
    return { ...shared, rules: rules && inTime(rules.at(path, texts)) };
  }

  function listRead(path: RelativePath, real: string, { entries, texts }: WholeDirectory): Promise<DirectoryList> {
    notePlace(path, real);
    return listEntries([entries], path, options(path, texts), async () => []);
  }

  async function list(place: OpenPath, path: RelativePath): Promise<DirectoryList> {
    notePlace(path, place.real);
    // Prefetches the rules of the parent directories; their failures reach the caller of `rules`.
    const above = parentOf(path)?.parent;
    if (above !== undefined) rules?.at(above).catch(() => undefined);
    const [read] = await readLevel(place, [''], wanted);
    return read ? listRead(path, place.real, read) : listDirectory(place, path, options(path));
  }

  const open: Lister['open'] = (path, shown, work) =>
    onPath(shown, async () => {
      const place = await inTime(inside.open(path, shown), (late) => late.close());
      try {
        return await work(place);
      } finally {
        await place.close();
      }
    });

  return {
    open,
    list,

    below(top, above, directories) {
      const paths = directories.map((path) => (above === '.' ? path : path.slice(above.length + 1)));
      /** The current portion and the next one; earlier ones are released. */
      const portions = new Map<number, ReturnType<typeof readLevel>>();
      function readPortion(portion: number): ReturnType<typeof readLevel> {
        const from = portion * LEVEL_PORTION;
        const reading = portions.get(portion) ?? readLevel(top, paths.slice(from, from + LEVEL_PORTION), wanted);
        portions.set(portion, reading);
        // The caller awaits it only after listing the previous portion.
        reading.catch(() => undefined);
        return reading;
      }
      return {
        async list(index) {
          const path = directories[index];
          if (path === undefined) return undefined;
          const portion = Math.floor(index / LEVEL_PORTION);
          portions.delete(portion - 1);
          const reading = readPortion(portion);
          if ((portion + 1) * LEVEL_PORTION < directories.length) void readPortion(portion + 1);
          const read = (await reading)[index % LEVEL_PORTION];
          if (!read) return open(path, path, (place) => list(place, path)).catch(unreadable);
          return onPath(path, () => listRead(path, join(top.real, paths[index] ?? ''), read)).catch(unreadable);
        },
        async end() {
          await Promise.allSettled(portions.values());
        },
      };
    },

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

interface Tree {
  children: [string, FileEntry[]][];
  truncated: boolean;
}

/** Lists breadth first, real directories only; omits unreadable ones. */
async function listBelow(
  lister: Lister,
  place: OpenPath,
  path: RelativePath,
  top: DirectoryList,
  { depth, signal }: { depth: number; signal: AbortSignal },
): Promise<Tree> {
  const children: [string, FileEntry[]][] = [];
  let { truncated } = top;
  let left = MAX_ENTRIES - top.entries.length;
  let level = top.entries;
  for (let at = 2; at <= depth && level.length > 0; at++) {
    // The paths consist of names that the system returned, so no validation is needed.
    const directories = level.filter(({ kind }) => kind === 'directory').map((entry) => entry.path as RelativePath);
    level = [];
    const below = lister.below(place, path, directories);
    try {
      for (let start = 0; start < directories.length; start += WIDTH) {
        signal.throwIfAborted();
        if (left <= 0) return { children, truncated: true };
        const batch = [...directories.slice(start, start + WIDTH).entries()];
        const lists = await mapLimit(batch, WIDTH, ([index]) => below.list(start + index));
        for (const [index, list] of lists.entries()) {
          const directory = directories[start + index];
          if (!list || directory === undefined) continue;
          const entries = list.entries.slice(0, Math.max(0, left));
          left -= entries.length;
          truncated ||= list.truncated || entries.length < list.entries.length;
          children.push([directory, entries]);
          for (const entry of entries) level.push(entry);
        }
      }
    } finally {
      await below.end();
    }
  }
  return { children, truncated };
}

/** Throws the errors of `Lister.open`, and `validation.failed` for a glob. */
export async function listFiles(directory: WorkDirectory, request: ListFiles, deps: ListDeps): Promise<FileList> {
  const { path: shown, depth } = request;
  const lister = await createLister(directory, request, deps);
  const path = relativePath(shown);
  const { top, tree } = await lister.open(path, shown, async (place) => {
    const list = await lister.list(place, path);
    const { signal } = deps;
    return { top: list, tree: depth === 1 ? undefined : await listBelow(lister, place, path, list, { depth, signal }) };
  });
  if (!tree) {
    await lister.mark(top.entries);
    return { items: top.entries, truncated: top.truncated };
  }
  const { children, truncated } = tree;
  for (const entries of [top.entries, ...children.map(([, entries]) => entries)]) await lister.mark(entries);
  return { items: top.entries, truncated, children_by_path: Object.fromEntries(children) };
}

/** Returns the error of a path that could not be listed, for the reply. */
function partialError(error: unknown): { code: number; msg: string } {
  if (error instanceof ServiceError) return { code: error.code, msg: error.message };
  return { code: 50001, msg: errorMessage(error) };
}

/** Lists each path like `listFiles` at depth 1; errors are reported per path. Throws `validation.failed` for a glob. */
export async function listManyFiles(
  directory: WorkDirectory,
  request: ListManyFiles,
  deps: ListDeps,
): Promise<FileLists> {
  const lister = await createLister(directory, request, deps);
  const paths = [...new Set(request.paths)];
  const answers = await mapLimit(paths, WIDTH, async (shown) => {
    deps.signal.throwIfAborted();
    try {
      const path = relativePath(shown);
      const { entries, truncated } = await lister.open(path, shown, (place) => lister.list(place, path));
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
