/**
 * Programs that the server runs for itself: git, gh and ripgrep. npx and npm put `node_modules/.bin` of the project first
 * in PATH, and a project must not bring such a program.
 */
import { delimiter, dirname, isAbsolute } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import { gitEntryHolders } from '#server/project-files/git-entries.ts';
import type { Runtime } from './runtime.ts';

export type ProgramRuntime = Pick<Runtime, 'environment' | 'lstat' | 'realpath' | 'which'>;

export interface OwnPrograms {
  /** Finds a program on the PATH of `environment`; its absolute path, undefined when it is missing. */
  find(name: string): Promise<string | undefined>;
  /** The environment to run it with: PATH has no relative folders and none of the project. */
  environment: NodeJS.ProcessEnv;
}

/** The nearest directory at or above a real path that holds `.git`, whoever owns it, else the path. */
async function projectRoot(real: string, runtime: ProgramRuntime): Promise<string> {
  for await (const holder of gitEntryHolders(real, runtime)) return holder;
  return real;
}

/**
 * Finds programs, and how to run them, for work in a directory. Folders of PATH are compared by their real paths; one that
 * cannot be resolved is left out.
 */
export async function ownPrograms(directory: string, runtime: ProgramRuntime): Promise<OwnPrograms> {
  const environment = runtime.environment();
  const variable = Object.keys(environment).find((name) => /^path$/i.test(name)) ?? 'PATH';
  // Where the directory is gone, its use will say so.
  const workspace = await runtime.realpath(directory).catch(() => directory);
  // The root of the disk holds all programs.
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
    // An empty PATH would mean the working directory, none means the system's folders.
    environment: { ...environment, [variable]: path === '' ? undefined : path },
  };
}
