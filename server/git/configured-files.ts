/**
 * Files that a repository's configuration includes, or names as programs and hooks: a writer of such a file controls
 * what git starts. Cached until one of the files that were read is changed, created or removed.
 */
import { dirname, join, resolve } from 'node:path';
import { mapLimit } from '#server/async/map-limit.ts';
import { isInside } from '#server/files/paths.ts';
import { smallText, type Repository } from '#server/project-files/repository.ts';
import {
  environmentEntries,
  expandPath,
  readEntries,
  userFiles,
  type ConfigurationEntry,
  type ConfigurationRuntime,
} from './configuration.ts';
import { createEmbeddedRepositories, type EmbeddedRepository } from './embedded.ts';
import { namedPaths } from './named-paths.ts';
import { areSettled, stampOf } from './stamps.ts';

/** A file that a tool writes: its path as named, and with links resolved. */
interface WrittenFile {
  path: string;
  real: string;
}

export interface ConfiguredFiles {
  /** Whether the configuration reads the file, or git starts it. */
  has(file: WrittenFile): boolean;
  /** Every path that the configuration names, as named and with links resolved; most words of commands are no files. */
  paths: readonly string[];
  /** Suffixes and patterns of paths in a directory that only the shell knows; without those of aliases. */
  unplaced: readonly string[];
}

/** Resolves to undefined when git cannot read its configuration. */
export type ConfiguredFilesReader = (
  repository: Pick<Repository, 'top' | 'controlPaths'>,
  runtime: ConfigurationRuntime,
) => Promise<ConfiguredFiles | undefined>;

/** Limit of included files and submodules, each read by a separate git process. With more, the result is undefined. */
const MAX_FILES = 500;
const SIDE_BY_SIDE = 4;
const MAX_MODULE_DEPTH = 8;
const MAX_KNOWN = 64;

/** Last components of keys whose value is a command line. */
const PROGRAMS = new Set(
  (
    'alternaterefscommand askpass clean cmd command defaultkeycommand difffilter driver editor external fsmonitor ' +
    'gitproxy helper packobjectshook pager process program receivepack recentobjectshook smudge sshcommand textconv ' +
    'tunnel uploadpack'
  ).split(' '),
);
const TOOLS = new Set(['browser', 'difftool', 'guitool', 'man', 'mergetool']);

function isProgram({ key, value }: ConfigurationEntry): boolean {
  const section = key.slice(0, key.indexOf('.'));
  const name = key.slice(key.lastIndexOf('.') + 1);
  if (section === 'alias' || (section === 'submodule' && name === 'update')) return value.startsWith('!');
  return PROGRAMS.has(name) || section === 'pager' || (TOOLS.has(section) && name === 'path');
}

/** Paths found in the configuration, before links are resolved. */
interface Named {
  files: Set<string>;
  directories: Set<string>;
  ends: Set<string>;
  patterns: Set<string>;
  unplaced: Set<string>;
  /** Words of command lines as paths; most of them are no files. */
  words: Set<string>;
  /** Directories whose entries were listed. */
  listed: Set<string>;
}

/** Files to be read separately: conditions exclude them from git's current view, or they belong to a submodule. */
interface Unread {
  files: string[];
  /** The directory that relative names in them are resolved against. */
  base: string;
}

const exists = (path: string, { stat }: ConfigurationRuntime) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Finds the git directories of submodules below a directory `modules`: their names may contain slashes. */
async function moduleDirectories(
  modules: string,
  runtime: ConfigurationRuntime,
  listed: Set<string>,
  depth = 0,
): Promise<string[]> {
  listed.add(modules);
  const found: string[] = [];
  if (depth > MAX_MODULE_DEPTH || listed.size > MAX_FILES) return found;
  for (const entry of await runtime.list(modules).catch(() => [])) {
    if (!entry.isDirectory()) continue;
    const directory = join(modules, entry.name);
    const isModule = await exists(join(directory, 'HEAD'), runtime);
    if (isModule) found.push(directory);
    const below = isModule ? join(directory, 'modules') : directory;
    found.push(...(await moduleDirectories(below, runtime, listed, depth + 1)));
  }
  return found;
}

/**
 * Returns the git directories of linked work trees, which have settings and submodules themselves: the entries of a
 * directory `worktrees`, each with the top of its work tree.
 */
async function linkedWorkTrees(
  worktrees: string,
  runtime: ConfigurationRuntime,
): Promise<{ gitDirectory: string; pointer: string; top: string }[]> {
  const entries = await runtime.list(worktrees).catch(() => []);
  const found = entries.map(async ({ name }) => {
    const gitDirectory = join(worktrees, name);
    const pointer = join(gitDirectory, 'gitdir');
    const entry = await smallText(pointer, runtime);
    return entry === undefined ? [] : [{ gitDirectory, pointer, top: dirname(resolve(gitDirectory, entry)) }];
  });
  return (await Promise.all(found)).flat();
}

const settingsIn = (gitDirectory: string) => [join(gitDirectory, 'config'), join(gitDirectory, 'config.worktree')];

/** Resolves to undefined when git cannot read a file, or when there are more than `MAX_FILES`. */
async function readNamed(
  { top, controlPaths }: Pick<Repository, 'top' | 'controlPaths'>,
  embedded: readonly EmbeddedRepository[],
  runtime: ConfigurationRuntime,
): Promise<Named | undefined> {
  const variables = runtime.environment();
  const home = variables.HOME ?? runtime.homeDirectory();
  const named: Named = {
    files: new Set(userFiles(runtime)),
    directories: new Set(),
    ends: new Set(),
    patterns: new Set(),
    unplaced: new Set(),
    words: new Set(),
    listed: new Set(),
  };
  const unread: Unread[] = [];
  const read = new Set<string>();

  function note(entries: readonly ConfigurationEntry[], from: string): void {
    const worktree = entries.findLast(({ key, origin }) => key === 'core.worktree' && origin !== undefined);
    const base = worktree ? expandPath(worktree.value, dirname(worktree.origin ?? ''), home) : from;
    for (const entry of entries) {
      const { key, value, origin } = entry;
      if (origin !== undefined) {
        named.files.add(origin);
        read.add(origin);
      }
      if (key === 'include.path' || /^includeif\..*\.path$/s.test(key)) {
        const included = expandPath(value, origin === undefined ? base : dirname(origin), home);
        named.files.add(included);
        unread.push({ files: [included], base });
      } else if (key === 'core.hookspath') named.directories.add(expandPath(value, base, home));
      else if (isProgram(entry)) {
        const { ends, patterns, unplaced, paths } = namedPaths(value, base, home);
        for (const end of ends) named.ends.add(end);
        // No command of git starts an alias, so links and patterns are not followed for them.
        if (key.startsWith('alias.')) continue;
        for (const path of paths) named.words.add(path);
        for (const pattern of patterns) named.patterns.add(pattern);
        for (const end of unplaced) named.unplaced.add(end);
      }
    }
  }

  const entries = await readEntries(top, runtime);
  if (!entries) return undefined;
  note([...entries, ...environmentEntries(variables)], top);
  function noteFiles(files: readonly string[], base: string): void {
    const more = files.filter((file) => !named.files.has(file));
    for (const file of more) named.files.add(file);
    if (more.length > 0) unread.push({ files: more, base });
  }
  async function noteModules(gitDirectory: string): Promise<void> {
    const modules = await moduleDirectories(join(gitDirectory, 'modules'), runtime, named.listed);
    for (const directory of modules) noteFiles(settingsIn(directory), directory);
  }
  // Before those of the modules, whose configuration does not name the work tree unless `core.worktree` is set.
  for (const { top: base, gitDirectories } of embedded) {
    for (const directory of gitDirectories) noteFiles(settingsIn(directory), base);
  }
  for (const gitDirectory of controlPaths) {
    for (const file of settingsIn(gitDirectory)) named.files.add(file);
    await noteModules(gitDirectory);
    const worktrees = join(gitDirectory, 'worktrees');
    named.listed.add(worktrees);
    for (const linked of await linkedWorkTrees(worktrees, runtime)) {
      named.files.add(linked.pointer);
      noteFiles([join(linked.gitDirectory, 'config.worktree')], linked.top);
      await noteModules(linked.gitDirectory);
    }
  }

  if (named.listed.size > MAX_FILES) return undefined;
  while (unread.length > 0) {
    const next = unread.splice(0).map(({ files, base }) => ({ files: files.filter((file) => !read.has(file)), base }));
    for (const { files } of next) for (const file of files) read.add(file);
    if (read.size > MAX_FILES) return undefined;
    const found = await mapLimit(next, SIDE_BY_SIDE, ({ files }) => readAlone(files, top, runtime));
    for (const [index, { base }] of next.entries()) {
      const inner = found[index];
      if (!inner) return undefined;
      note(inner, base);
    }
  }
  return named;
}

/** Reads the entries of the files that exist, serially; undefined when git cannot read one. */
async function readAlone(files: readonly string[], top: string, runtime: ConfigurationRuntime) {
  const all: ConfigurationEntry[] = [];
  for (const file of files) {
    const stats = await runtime.stat(file).catch(() => undefined);
    const entries = stats?.isFile() ? await readEntries(top, runtime, file) : [];
    if (!entries) return undefined;
    all.push(...entries);
  }
  return all;
}

interface Known {
  files: ConfiguredFiles;
  /** Keyed by path. */
  stamps: ReadonlyMap<string, string>;
}

async function lookUp(
  { files, directories, ends, patterns, unplaced, words, listed }: Named,
  runtime: ConfigurationRuntime,
  begun: number,
) {
  // Most words are no files. Those that exist may be links, whose targets can change.
  const present = await Promise.all([...words].map(async (path) => ((await exists(path, runtime)) ? [path] : [])));
  const watched = [...new Set([...files, ...directories, ...listed, ...present.flat()])];
  const stamps = await Promise.all(watched.map((path) => stampOf(path, runtime)));
  const realPath = (path: string) => runtime.realpath(path).catch(() => path);
  const hooks = await Promise.all(
    [...directories].map(async (directory) => {
      const entries = await runtime.list(directory).catch(() => []);
      return Promise.all(entries.map(({ name }) => realPath(join(directory, name))));
    }),
  );
  const withReal = async (paths: Iterable<string>) => [...paths, ...(await Promise.all([...paths].map(realPath)))];
  const names = [...(await withReal([...files, ...words])), ...hooks.flat()];
  const folders = await withReal(directories);
  return {
    files: {
      has: matcher({ names, folders, ends: [...ends], patterns: [...patterns] }),
      paths: [...new Set([...names, ...folders])],
      unplaced: [...unplaced],
    },
    stamps: new Map(watched.map((path, index) => [path, stamps[index]?.text ?? ''])),
    settled: areSettled(stamps, begun),
  };
}

interface Matched {
  names: string[];
  folders: string[];
  ends: string[];
  patterns: string[];
}

/** Creates the predicate `has`. It ignores case, so that another spelling of the same file cannot bypass it. */
function matcher({ names, folders, ends, patterns }: Matched): ConfiguredFiles['has'] {
  const lower = (paths: readonly string[]) => [...new Set(paths.map((path) => path.toLowerCase()))];
  const [known, above, tails] = [new Set(lower(names)), lower(folders), lower(ends)];
  const expressions = patterns.map((pattern) => new RegExp(pattern, 'is'));
  const matches = (path: string) =>
    known.has(path) ||
    above.some((folder) => isInside(path, folder)) ||
    tails.some((tail) => path.endsWith(tail)) ||
    expressions.some((expression) => expression.test(path));
  return ({ path, real }) => matches(path.toLowerCase()) || matches(real.toLowerCase());
}

/** Variables that locate the configuration, or are part of it. */
const VARIABLE = /^(?:GIT_.*|HOME|XDG_CONFIG_HOME|PAGER|PATH)$/;

/** Creates a reader that caches the configuration of up to `MAX_KNOWN` repositories; the oldest entry is evicted. */
export function createConfiguredFilesReader(): ConfiguredFilesReader {
  const known = new Map<string, Known>();
  const findEmbedded = createEmbeddedRepositories();

  async function isCurrent({ stamps }: Known, runtime: ConfigurationRuntime): Promise<boolean> {
    const checks = [...stamps].map(async ([path, stamp]) => (await stampOf(path, runtime)).text === stamp);
    return (await Promise.all(checks)).every(Boolean);
  }

  return async (repository, runtime) => {
    const variables = Object.entries(runtime.environment()).filter(([name]) => VARIABLE.test(name));
    const embedded = await findEmbedded(repository, runtime);
    if (!embedded) return undefined;
    const key = JSON.stringify([repository.top, repository.controlPaths, embedded, variables]);
    const before = known.get(key);
    if (before && (await isCurrent(before, runtime))) return before.files;
    known.delete(key);
    const begun = Date.now();
    const named = await readNamed(repository, embedded, runtime);
    if (!named) return undefined;
    const { files, stamps, settled } = await lookUp(named, runtime, begun);
    if (settled) {
      const [oldest] = known.keys();
      if (known.size >= MAX_KNOWN && oldest !== undefined) known.delete(oldest);
      known.set(key, { files, stamps });
    }
    return files;
  };
}
