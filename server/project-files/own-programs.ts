/**
 * Programs that the server runs internally: git, gh and ripgrep. npx and npm put the project's `node_modules/.bin`
 * first in PATH, and a project must not supply such a program.
 */
import { delimiter, dirname, isAbsolute } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import { gitEntryHolders } from './git-entries.ts';
import type { Runtime } from '#server/runtime/runtime.ts';

export type ProgramRuntime = Pick<Runtime, 'environment' | 'lstat' | 'realpath' | 'which'>;

export interface OwnPrograms {
  /** Absolute path of a program on the PATH of `environment`; undefined if it is missing. */
  find(name: string): Promise<string | undefined>;
  /** Environment for the program: PATH without relative folders and without folders of the project. */
  environment: NodeJS.ProcessEnv;
}

/** The nearest directory at or above a real path that contains `.git`, of any owner; else the path. */
async function projectRoot(real: string, runtime: ProgramRuntime): Promise<string> {
  for await (const holder of gitEntryHolders(real, runtime)) return holder;
  return real;
}

/**
 * Finds programs, and the environment to run them in, for work in a directory. Folders of PATH are compared by their
 * real paths; one that cannot be resolved is omitted.
 */
export async function ownPrograms(directory: string, runtime: ProgramRuntime): Promise<OwnPrograms> {
  const environment = runtime.environment();
  const variable = Object.keys(environment).find((name) => /^path$/i.test(name)) ?? 'PATH';
  // If the directory is missing, the operation that uses it reports that.
  const workspace = await runtime.realpath(directory).catch(() => directory);
  // The root of the file system is excluded, because it contains all programs.
  const project = [workspace, await projectRoot(workspace, runtime)].filter((folder) => dirname(folder) !== folder);
  const folders = (environment[variable] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const real = await Promise.all(folders.map((folder) => runtime.realpath(folder).catch(() => undefined)));
  const path = folders
    .filter((_, index) => {
      const at = real[index];
      return at !== undefined && !project.some((folder) => isInside(at, folder));
    })
    .join(delimiter);
  return {
    find: (name) => runtime.which(process.platform === 'win32' ? `${name}.exe` : name, path),
    // An empty PATH would mean the working directory, an unset one means the system's folders.
    environment: { ...environment, [variable]: path === '' ? undefined : path },
  };
}
