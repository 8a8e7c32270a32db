/**
 * Directories that are part of a workspace in addition to its root: entries of the project's `local.toml` that the user
 * has trusted or added, and those added until the process exits. They are read at each use, so a change applies to
 * every session immediately.
 */
import { realpath, stat } from 'node:fs/promises';
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import { ServiceError, invalidField } from '#server/errors/service-error.ts';
import type { Clock } from '#server/clock.ts';
import { directoryFault } from '#server/files/file-kind.ts';
import { PathError } from '#server/files/paths.ts';
import { absolutePath } from '#server/runtime/path-policy.ts';
import type { Logger } from '#server/logging/log.ts';
import type { IgnoredConfig } from '#server/project-files/ignored-config.ts';
import type { Projects } from '#server/project-files/projects.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import type { ChangeLock } from '#server/storage/change-lock.ts';
import type { AddedDirectory } from '#schema/rest/workspace.ts';
import type { ConfirmedDirs } from './confirmed-dirs.ts';
import { createForeignChanges } from './foreign-changes.ts';
import { MAX_DIRECTORIES, configPathOf, configStamp, readLocalConfig, type writeDirectories } from './local-config.ts';
import { checkDirectory, normalRoot, rootKey } from './workspace-root.ts';

/** A file that was modified more recently may still be being written. */
const SETTLE_MS = 200;
/** Cache lifetime: one call queries several times. */
const MAX_AGE_MS = 100;
/** Maximum number of cached workspaces. */
const MAX_REMEMBERED = 1000;

export interface AdditionalDirs {
  /** Returns the existing directories of a root, absolute. Never rejects: an unreadable file adds none. */
  of(root: string): Promise<readonly string[]>;
  /**
   * Adds a directory for all sessions of the workspace: to the file, or until the process exits. Throws
   * `validation.failed`, `fs.path_not_found`, `fs.permission_denied`, and `persistence.failure` where the file cannot
   * be read or written.
   */
  add(root: string, path: string, persist: boolean): Promise<AddedDirectory>;
  /** Returns the file if it lists directories that are not in force. Never rejects. */
  ignored(root: string): Promise<readonly IgnoredConfig[]>;
  /** Clears the cache, after a directory was trusted or untrusted. */
  refresh(): void;
}

/** Writes the record of confirmed directories and the files of projects. */
export interface AdditionalDirsWriter {
  confirm: ConfirmedDirs['add'];
  writeDirectories: typeof writeDirectories;
}

export interface AdditionalDirsDeps {
  lock: ChangeLock<AdditionalDirsWriter>;
  runtime: Pick<Runtime, 'homeDirectory' | 'realpath'>;
  rootOf: Projects['rootOf'];
  /** Whether the user trusts exactly this directory. */
  trusted(directory: string): Promise<boolean>;
  confirmed: Pick<ConfirmedDirs, 'of'>;
  /** Called when a read shows that directories not added by this process are in force since `since` (ms). */
  addedElsewhere(root: string, directories: readonly string[], since: number): void;
  log: Logger;
  clock: Pick<Clock, 'now'>;
}

/** The file as last read. */
interface Seen {
  stamp: string;
  projectRoot: string;
  /** All entries, in force or not. */
  directories: readonly string[];
}

interface Sight {
  /** Monotonic time of the read. */
  at: number;
  seen: Promise<Seen>;
  /** The entries of the file that are in force. */
  inForce: Promise<readonly string[]>;
  present: Promise<readonly string[]>;
}

/** Creates the service; it reads on first use. */
export function createAdditionalDirs(deps: AdditionalDirsDeps): AdditionalDirs {
  const { lock, runtime, rootOf, trusted, confirmed, log, clock } = deps;
  const changes = createForeignChanges<{ root: string; directories: readonly string[] }>({
    clock,
    changed(before, { root, directories }, since) {
      const fresh = directories.filter((directory) => !before.directories.includes(directory));
      if (fresh.length > 0) deps.addedElsewhere(root, fresh, since);
    },
  });
  /** Cache by root key, least recently read first. */
  const sights = new Map<string, Sight>();
  /** Directories added until the process exits, by root key. */
  const added = new Map<string, string[]>();
  const additions = createSerialQueue();

  async function look(root: string, before: Seen | undefined): Promise<Seen> {
    try {
      const projectRoot = await rootOf(root);
      const path = configPathOf(projectRoot);
      const { stamp: version, mtimeMs } = await configStamp(path);
      const stamp = `${path} ${version}`;
      if (before?.stamp === stamp) return before;
      if (version === 'absent') return { stamp, projectRoot, directories: [] };
      // A future time is meaningless; a very recent one means that more writes may follow.
      if (before && Math.abs(Date.now() - mtimeMs) < SETTLE_MS) return before;
      const { directories } = await readLocalConfig(projectRoot).catch((error: unknown) => {
        log.warn('the additional directories of a project are left out', { path, err: error });
        return { directories: [] };
      });
      return { stamp, projectRoot, directories };
    } catch (error) {
      log.warn('the additional directories of a workspace cannot be looked for', { root, err: error });
      return { stamp: '', projectRoot: root, directories: [] };
    }
  }

  /** Returns all entries of a trusted project, else those that the user has added on this machine. */
  async function inForceOf({ projectRoot, directories }: Seen): Promise<readonly string[]> {
    if (directories.length === 0) return directories;
    try {
      if (await trusted(projectRoot)) return directories;
      const known = await confirmed.of(projectRoot);
      const real = await Promise.all(directories.map((path) => realpath(path).catch(() => undefined)));
      return directories.filter((_, index) => known.includes(real[index] ?? ''));
    } catch (error) {
      log.warn('which additional directories of a project count cannot be read; none do', { projectRoot, err: error });
      return [];
    }
  }

  async function presentOf(directories: readonly string[]): Promise<readonly string[]> {
    const faults = await Promise.all(directories.map((path) => directoryFault(path, stat).catch(() => 'missing')));
    return directories.filter((_, at) => faults[at] === undefined);
  }

  const union = (listed: readonly string[], key: string) => [...new Set([...listed, ...(added.get(key) ?? [])])];

  function sightOf(root: string): Sight {
    const key = rootKey(root);
    const known = sights.get(key);
    const at = performance.now();
    if (known && at - known.at < MAX_AGE_MS) return known;
    const seen = (known?.seen ?? Promise.resolve(undefined)).then((before) => look(root, before));
    const counting = changes.read(key, async () => ({ root, directories: await inForceOf(await seen) }));
    const inForce = counting.then(({ directories }) => directories);
    const present = inForce.then((directories) => presentOf(union(directories, key)));
    const sight: Sight = { at, seen, inForce, present };
    sights.delete(key);
    sights.set(key, sight);
    const [oldest] = sights.keys();
    if (sights.size > MAX_REMEMBERED && oldest !== undefined) sights.delete(oldest);
    return sight;
  }

  async function ignored(root: string): Promise<readonly IgnoredConfig[]> {
    const { seen, inForce } = sightOf(root);
    const [{ projectRoot: directory, directories }, counting] = await Promise.all([seen, inForce]);
    if (counting.length === directories.length) return [];
    return [{ path: configPathOf(directory), directory, reason: 'untrusted' }];
  }

  /** Resolves the directory of a request. */
  async function directoryOf(root: string, path: string): Promise<string> {
    if (path.trim() === '') throw invalidField('path', 'path must not be blank');
    let absolute: string;
    try {
      absolute = normalRoot(absolutePath(path.trim(), { cwd: root, runtime }));
    } catch (error) {
      throw error instanceof PathError ? invalidField('path', error.message) : error;
    }
    await checkDirectory(absolute, 'path', path);
    return absolute;
  }

  function assertRoom(directories: readonly string[]): void {
    if (directories.length <= MAX_DIRECTORIES) return;
    throw new ServiceError('validation.failed', `a workspace has at most ${MAX_DIRECTORIES} additional directories`);
  }

  async function persistIn(projectRoot: string, directory: string, writer: AdditionalDirsWriter): Promise<string[]> {
    const config = await readLocalConfig(projectRoot);
    const isListed = config.directories.includes(directory);
    const directories = isListed ? config.directories : [...config.directories, directory];
    assertRoom(directories);
    await writer.confirm(projectRoot, directory);
    if (isListed) return directories;
    await writer.writeDirectories(projectRoot, config, directories);
    return directories;
  }

  async function keepInMemory(projectRoot: string, root: string, directory: string): Promise<string[]> {
    const { directories } = await readLocalConfig(projectRoot);
    if ((await presentOf(directories)).length < directories.length) {
      const message = 'workspace.additional_dir must exist and be a directory';
      throw new ServiceError('validation.failed', message);
    }
    const key = rootKey(root);
    const kept = [...new Set([...(added.get(key) ?? []), directory])];
    assertRoom([...new Set([...directories, ...kept])]);
    added.set(key, kept);
    return directories;
  }

  async function add(root: string, path: string, persist: boolean): Promise<AddedDirectory> {
    const directory = await directoryOf(root, path);
    const project_root = await rootOf(root);
    const listed = await changes.own(() =>
      persist
        ? lock.hold((writer) => persistIn(project_root, directory, writer))
        : keepInMemory(project_root, root, directory),
    );
    // Without a previous read, a recently modified file is read immediately.
    sights.clear();
    return {
      project_root,
      config_path: configPathOf(project_root),
      additional_dirs: union(listed, rootKey(root)),
      persisted: persist,
    };
  }

  return {
    of: (root) => sightOf(root).present,
    ignored,
    refresh() {
      sights.clear();
      changes.forget();
    },
    /** Serialized: each call reads the result of the previous one. */
    add: (root, path, persist) => additions.run(() => add(root, path, persist)),
  };
}
