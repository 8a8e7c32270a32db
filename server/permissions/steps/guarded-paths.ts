/** Paths that need approval in every mode but auto: secrets, and files that control the server and its agents. */
import { basename } from 'node:path';
import type { FileAccess, PermissionStep } from '../decision.ts';
import { CONTROL_FOLDERS, PROJECT_MCP } from '#server/project-files/places.ts';
import { isSensitivePath } from '../sensitive-files.ts';
import { passesThrough, workingDirectory } from './passes-through.ts';

export const guardedPaths: PermissionStep = async (_call, context) => {
  const files = await context.files();
  if (files.length === 0) return undefined;
  const cwd = await workingDirectory(context);
  const server = await context.serverFiles();
  const either = (file: FileAccess, test: (path: string) => boolean) => test(file.path) || test(file.real);

  if (files.some((file) => either(file, isSensitivePath) || either(file, server.isSecret))) {
    return context.ask('The file may hold secrets.');
  }
  const folders = await context.controlPaths();
  const controls = (file: FileAccess) =>
    either(file, server.isHome) ||
    either(file, folders.isUsers) ||
    either(file, folders.isNamed) ||
    (!server.isOwn(file.real) && passesThrough(file, cwd, (name) => CONTROL_FOLDERS.includes(name))) ||
    either(file, (name) => basename(name).toLowerCase() === PROJECT_MCP);
  if (files.some((file) => file.writes && controls(file))) {
    return context.ask('The path belongs to the settings of the server or of the project.');
  }
  if (files.some((file) => either(file, server.isSettings))) {
    return context.ask('The file holds settings of the server, keys among them.');
  }
  return undefined;
};
