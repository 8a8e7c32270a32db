/** Opens files in the user's programs, as detached processes. */
import { spawn, type SpawnOptions } from 'node:child_process';
import { dirname } from 'node:path';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { within } from '#server/files/open-within.ts';
import { onPath } from '#server/files/path-error.ts';
import { relativePath, type WorkDirectory } from '#server/files/work-directory.ts';
import { childEnvironment } from '#server/processes/child-environment.ts';
import { coveredDescriptors } from '#server/processes/hidden-descriptors.ts';
import { findOnPath } from '#server/processes/executables.ts';
import {
  openCommand,
  openInCommand,
  revealCommand,
  type AppId,
  type LaunchCommand,
  type LaunchHost,
  type LaunchTarget,
} from './launch-commands.ts';

interface LaunchRequest {
  path: string;
  line?: number | undefined;
}

/** Resolves the path and its links. Throws `fs.path_not_found`, `fs.permission_denied`, `fs.path_escapes_session`. */
export async function findTarget(
  directory: WorkDirectory,
  { path: shown, line }: LaunchRequest,
): Promise<LaunchTarget> {
  const path = relativePath(shown);
  const inside = await within(directory);
  return onPath(shown, async () => {
    const place = await inside.open(path, shown);
    try {
      return { path: place.real, isDirectory: (await place.stat()).isDirectory(), line };
    } finally {
      await place.close();
    }
  });
}

/** Resolves when the program has started; its exit is ignored. */
function start(command: LaunchCommand, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const options: SpawnOptions = {
    cwd,
    env: childEnvironment(env),
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', ...coveredDescriptors()],
    windowsHide: true,
  };
  return new Promise((resolve, reject) => {
    const child =
      'shell' in command
        ? spawn(command.shell, [], { ...options, shell: true })
        : spawn(command.program, command.args, { ...options, windowsVerbatimArguments: command.verbatim ?? false });
    child.once('error', reject);
    child.once('spawn', () => {
      child.unref();
      resolve();
    });
  });
}

async function launch(env: NodeJS.ProcessEnv, target: LaunchTarget, command: LaunchCommand): Promise<void> {
  await start(command, target.isDirectory ? target.path : dirname(target.path), env);
}

const hostOf = (env: NodeJS.ProcessEnv): LaunchHost => ({ platform: process.platform, env });

/** Throws the errors of `findTarget`, and `internal.error` when no program could be started; so do the others. */
export async function openPath(
  directory: WorkDirectory,
  request: LaunchRequest,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const target = await findTarget(directory, request);
  await launch(env, target, openCommand(hostOf(env), target));
}

export async function revealPath(directory: WorkDirectory, path: string, env: NodeJS.ProcessEnv): Promise<void> {
  const target = await findTarget(directory, { path });
  await launch(env, target, revealCommand(hostOf(env), target));
}

/** Checks for editors first, because the system's error for a missing program is not helpful. */
async function assertInstalled(command: LaunchCommand, app: AppId, env: NodeJS.ProcessEnv): Promise<void> {
  if ((app !== 'vscode' && app !== 'cursor') || 'shell' in command) return;
  if (!(await findOnPath(command.program, env.PATH))) throw new Error(`${command.program} is not on PATH`);
}

export async function openPathIn(
  directory: WorkDirectory,
  app: AppId,
  request: LaunchRequest,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const target = await findTarget(directory, request);
  const command = openInCommand(hostOf(env), app, target);
  try {
    await assertInstalled(command, app, env);
    await launch(env, target, command);
  } catch (error) {
    throw new ServiceError('internal.error', `failed to open in ${app}: ${errorMessage(error)}`, { cause: error });
  }
}
