/** Writes the registry and the copies of plugins. Installs and actions receive it through the lock of the plugins. */
import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';
import { syncDirectory, writeFileDurable } from '#server/files/atomic-write.ts';
import { PLUGIN_NAME, registryFile, registrySchema, type Registry } from './registry.ts';

const STAGING = '.staging-';
const PREVIOUS = '.previous-';

/** The folder with the copies of all plugins. */
export const managedFolder = (home: string): string => join(home, 'plugins', 'managed');
/** The copy of a plugin. */
export const managedRoot = (home: string, id: string): string => join(managedFolder(home), id);

export interface PluginsWriter {
  /**
   * Completes or reverts what a killed server left: a copy that was renamed for its replacement is renamed back if
   * there is none, and removed otherwise. Removes all staging folders; only the owner of the lock may have one.
   */
  recover(): Promise<void>;
  /** Creates a staging folder and returns its path. */
  createStaging(): Promise<string>;
  /** Moves a staged folder to its place; the copy before is renamed. If that fails it is renamed back. */
  replace(staged: string, id: string): Promise<void>;
  /** Reverts `replace`. */
  restore(id: string): Promise<void>;
  /** Removes the copy before. */
  removePrevious(id: string): Promise<void>;
  writeRegistry(registry: Registry): Promise<void>;
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    (error: unknown) => {
      if (errorCode(error) === 'ENOENT') return false;
      throw error;
    },
  );

const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 2 });

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

const isLeftover = (name: string): boolean => name.startsWith(STAGING) || name.startsWith(PREVIOUS);

/** Whether a server was killed during an install, or another one is installing. */
export async function hasLeftovers(home: string): Promise<boolean> {
  return (await namesIn(managedFolder(home))).some(isLeftover);
}

export function createPluginsWriter(home: string): PluginsWriter {
  const managed = managedFolder(home);
  const previous = (id: string) => join(managed, `${PREVIOUS}${id}`);

  async function renameBack(id: string): Promise<void> {
    if (await exists(previous(id))) await rename(previous(id), managedRoot(home, id));
  }

  return {
    async recover() {
      const leftovers = (await namesIn(managed)).filter(isLeftover);
      // First, because a removal may take long.
      for (const name of leftovers) {
        const id = name.startsWith(PREVIOUS) ? name.slice(PREVIOUS.length) : '';
        if (PLUGIN_NAME.test(id) && !(await exists(managedRoot(home, id)))) await renameBack(id);
      }
      for (const name of leftovers) await remove(join(managed, name));
    },
    async createStaging() {
      const path = join(managed, `${STAGING}${randomBytes(8).toString('hex')}`);
      await mkdir(path, { mode: 0o700 });
      return path;
    },
    async replace(staged, id) {
      const root = managedRoot(home, id);
      if (await exists(root)) await rename(root, previous(id));
      try {
        await rename(staged, root);
      } catch (error) {
        await renameBack(id);
        throw error;
      }
      await syncDirectory(managed);
    },
    async restore(id) {
      await remove(managedRoot(home, id));
      await renameBack(id);
    },
    removePrevious: (id) => remove(previous(id)),
    writeRegistry: (registry) =>
      writeFileDurable(registryFile(home), `${JSON.stringify(registrySchema.parse(registry), null, 2)}\n`),
  };
}
