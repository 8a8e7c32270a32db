/** Paths that every mode but auto asks about: secrets, what controls the server and its agents, git's own files. */
import { basename, relative, sep } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import type { Repository } from '#server/project-files/repository.ts';
import type { FileAccess, PermissionContext, PermissionStep } from '../decision.ts';
import { isSensitivePath } from '../sensitive-files.ts';

/** Settings that a project brings along. */
const PROJECT_FOLDER = '.service-code';
const PROJECT_MCP = '.mcp.json';

/** Whether a component of the path, as seen from the working directory, has that name. */
const passesThrough = ({ path, real }: FileAccess, cwd: { path: string; real: string }, name: string) =>
  [...relative(cwd.path, path).split(sep), ...relative(cwd.real, real).split(sep)].some(
    (segment) => segment.toLowerCase() === name,
  );

const workingDirectory = async ({ places, realCwd }: PermissionContext) => ({
  path: places.cwd,
  real: await realCwd(),
});

export const guardedPaths: PermissionStep = async (_call, context) => {
  const files = await context.files();
  if (files.length === 0) return undefined;
  const cwd = await workingDirectory(context);
  const server = await context.serverFiles();
  const either = (file: FileAccess, test: (path: string) => boolean) => test(file.path) || test(file.real);

  if (files.some((file) => either(file, isSensitivePath) || either(file, server.isSecret))) {
    return context.ask('The file may hold secrets.');
  }
  const controls = (file: FileAccess) =>
    either(file, server.isHome) ||
    (!server.isOwn(file.real) && passesThrough(file, cwd, PROJECT_FOLDER)) ||
    either(file, (name) => basename(name).toLowerCase() === PROJECT_MCP);
  if (files.some((file) => file.writes && controls(file))) {
    return context.ask('The path belongs to the settings of the server or of the project.');
  }
  if (files.some((file) => either(file, server.isSettings))) {
    return context.ask('The file holds settings of the server, keys among them.');
  }
  return undefined;
};

export const gitPaths: PermissionStep = async (_call, context) => {
  const files = await context.files();
  if (files.length === 0) return undefined;
  const cwd = await workingDirectory(context);
  const repository = await context.repository();
  return files.some((file) => passesThrough(file, cwd, '.git') || isControlled(file, repository))
    ? context.ask("The path belongs to git's own files.")
    : undefined;
};

const isControlled = ({ path, real }: FileAccess, repository: Repository | undefined) =>
  repository?.controlPaths.some((control) => isInside(path, control) || isInside(real, control)) ?? false;
