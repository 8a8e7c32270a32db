/**
 * Directories that count as a workspace beside its root: those that the project's `local.toml` lists, and those added
 * until the process ends. They are asked for at each use, so a change holds at once for every session.
 */
import { stat } from 'node:fs/promises';
import { ServiceError, invalidField } from '#server/errors/service-error.ts';
import { directoryFault } from '#server/files/file-kind.ts';
import { PathError, absolutePath } from '#server/files/paths.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import type { ChangeLock } from '#server/storage/change-lock.ts';
import type { AddedDirectory } from '#schema/workspace.ts';
import {
  MAX_DIRECTORIES,
  configPathOf,
  configStamp,
  projectRootOf,
  readLocalConfig,
  writeDirectories,
} from './local-config.ts';
import { checkDirectory, normalRoot, rootKey } from './workspace-root.ts';

/** A file that was changed this lately may still be being written. */
const SETTLE_MS = 200;
/** What was seen holds so long: one call asks several times. */
const MAX_AGE_MS = 100;
/** Workspaces whose last sight is kept. */
const MAX_REMEMBERED = 1000;

export interface AdditionalDirs {
  /** Those of a workspace's root that are there, absolute. Never rejects: a file that cannot be read adds none. */
  of(root: string): Promise<readonly string[]>;
  /**
   * Adds one for all sessions of the workspace: to the file, or until the process ends. Throws 40001, 40409, 40411, and
   * 50003 where the file cannot be read or written.
   */
  add(root: string, path: string, persist: boolean): Promise<AddedDirectory>;
}

export interface AdditionalDirsDeps {
  /** Held while a file is changed. */
  lock: ChangeLock;
  runtime: Pick<Runtime, 'homeDirectory' | 'realpath'>;
  log: Logger;
}

/** The file as it counts. */
interface Seen {
  stamp: string;
  directories: readonly string[];
}

interface Sight {
  /** Of a clock that nobody sets. */
  at: number;
  seen: Promise<Seen>;
  present: Promise<readonly string[]>;
}

/** Reads nothing yet. */
export function createAdditionalDirs({ lock, runtime, log }: AdditionalDirsDeps): AdditionalDirs {
  /** By root key. The one looked at last stands at the end. */
  const sights = new Map<string, Sight>();
  /** Added until the process ends, by root key. */
  const added = new Map<string, string[]>();
  let last: Promise<unknown> = Promise.resolve();

  async function look(root: string, before: Seen | undefined): Promise<Seen> {
    try {
      const projectRoot = await projectRootOf(root);
      const path = configPathOf(projectRoot);
      const { stamp: version, mtimeMs } = await configStamp(path);
      const stamp = `${path} ${version}`;
      if (before?.stamp === stamp) return before;
      if (version === 'absent') return { stamp, directories: [] };
      // A time to come says nothing; one just past says that more may follow.
      if (before && Math.abs(Date.now() - mtimeMs) < SETTLE_MS) return before;
      const { directories } = await readLocalConfig(projectRoot).catch((error: unknown) => {
        log.warn('the additional directories of a project are left out', { path, err: error });
        return { directories: [] };
      });
      return { stamp, directories };
    } catch (error) {
      log.warn('the additional directories of a workspace cannot be looked for', { root, err: error });
      return { stamp: '', directories: [] };
    }
  }

  async function presentOf(directories: readonly string[]): Promise<readonly string[]> {
    const faults = await Promise.all(directories.map((path) => directoryFault(path, stat).catch(() => 'missing')));
    return directories.filter((_, at) => faults[at] === undefined);
  }

  const union = (listed: readonly string[], key: string) => [...new Set([...listed, ...(added.get(key) ?? [])])];

  function of(root: string): Promise<readonly string[]> {
    const key = rootKey(root);
    const known = sights.get(key);
    const at = performance.now();
    if (known && at - known.at < MAX_AGE_MS) return known.present;
    const seen = (known?.seen ?? Promise.resolve(undefined)).then((before) => look(root, before));
    const present = seen.then(({ directories }) => presentOf(union(directories, key)));
    sights.delete(key);
    sights.set(key, { at, seen, present });
    const [oldest] = sights.keys();
    if (sights.size > MAX_REMEMBERED && oldest !== undefined) sights.delete(oldest);
    return present;
  }

  /** The directory that a request means. */
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

  async function persistIn(projectRoot: string, directory: string, fence: () => void): Promise<string[]> {
    const config = await readLocalConfig(projectRoot);
    if (config.directories.includes(directory)) return config.directories;
    const directories = [...config.directories, directory];
    assertRoom(directories);
    fence();
    await writeDirectories(projectRoot, config, directories);
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
    const project_root = await projectRootOf(root);
    const listed = persist
      ? await lock.hold((fence) => persistIn(project_root, directory, fence))
      : await keepInMemory(project_root, root, directory);
    // What is looked at for the first time holds at once, however young it is.
    sights.clear();
    return {
      project_root,
      config_path: configPathOf(project_root),
      additional_dirs: union(listed, rootKey(root)),
      persisted: persist,
    };
  }

  return {
    of,
    /** One at a time: each reads what the one before has left. */
    add(root, path, persist) {
      const turn = last.then(() => add(root, path, persist));
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}
