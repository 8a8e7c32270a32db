/** Folders whose files configure agents: a write there changes the behaviour of later sessions. */
import { isInside } from '#server/files/paths.ts';
import type { Runtime } from '#server/runtime/runtime.ts';

export interface ControlFolders {
  /** Folders of the user, for all projects. */
  user: readonly string[];
  /** Folders that the configuration or a plugin names, in addition to those recognized by name. */
  named: readonly string[];
}

export interface ControlPaths {
  isUsers(path: string): boolean;
  isNamed(path: string): boolean;
}

/** Creates tests for paths as named and with links resolved. They ignore case, which could bypass them otherwise. */
export async function controlPathsOf(
  { user, named }: ControlFolders,
  { realpath }: Pick<Runtime, 'realpath'>,
): Promise<ControlPaths> {
  async function inside(folders: readonly string[]) {
    const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => folder)));
    const all = [...new Set([...folders, ...real])].map((folder) => folder.toLowerCase());
    return (path: string) => all.some((folder) => isInside(path.toLowerCase(), folder));
  }
  return { isUsers: await inside(user), isNamed: await inside(named) };
}
