/** Folders whose files configure agents: a write there changes what later sessions do. */
import { isInside } from '#server/files/paths.ts';
import type { Runtime } from '#server/runtime/runtime.ts';

export interface ControlFolders {
  /** Folders of the user, for all projects. */
  user: readonly string[];
  /** Folders that the configuration or a plugin names, in addition to those that are recognized by their names. */
  named: readonly string[];
}

export interface ControlPaths {
  isUsers(path: string): boolean;
  isNamed(path: string): boolean;
}

/** Tests of paths as named and with links resolved, compared without case: where that is one file it is no way around. */
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
