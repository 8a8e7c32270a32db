/** The home directory: `SERVICE_CODE_HOME`, or else `~/.service-code`. */
import { chmod, mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { StartError } from '#server/errors/start-error.ts';
import { errorMessage } from '#server/errors/service-error.ts';

export function homePath(env: NodeJS.ProcessEnv): string {
  return env.SERVICE_CODE_HOME ? resolve(env.SERVICE_CODE_HOME) : join(homedir(), '.service-code');
}

/** Creates the directory with mode 0700. Throws `StartError` if it cannot be used. */
export async function openHome(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await chmod(path, 0o700);
  } catch (error) {
    throw new StartError(`cannot use the home directory ${path}: ${errorMessage(error)}`);
  }
}
