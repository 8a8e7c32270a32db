/** Prepares a definition for its connection: placeholders, and the programs of plugins. */
import { stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import { findOnPath } from '#server/processes/executables.ts';
import { realPath } from '#server/runtime/real-path.ts';
import type { McpServerConfig } from '#schema/config/mcp-server.ts';
import { environmentOf, expandConfig } from './expand.ts';
import type { EntryPlugin, ServerDefinition } from './layers.ts';

type StdioConfig = Extract<McpServerConfig, { command: string }>;

export interface Launch {
  /** Placeholders expanded. */
  config: McpServerConfig;
  /** The environment of this server, and the variables of a plugin. */
  env: NodeJS.ProcessEnv;
}

/**
 * Rejects with a reason for people: an unset variable, an invalid URL, a program or directory outside its plugin. Both
 * were inside when the manifest was read, but a link may have been replaced since.
 */
export async function prepareLaunch(definition: ServerDefinition, own: NodeJS.ProcessEnv): Promise<Launch> {
  const { config: given, plugin, literal } = definition;
  if (literal) {
    // Editors may send servers that they would start elsewhere.
    if (given.transport === 'stdio' && given.runtime_id === undefined)
      throw new Error('the server names no runtime_id');
    return { config: given, env: own };
  }
  const env = environmentOf(definition, own);
  // The directory above a program of a plugin may contain the text `${x}`.
  const config = plugin ? expandConfig(given, env, isAbsolute) : expandConfig(given, env);
  if (!plugin || config.transport !== 'stdio') return { config, env };
  const { command, cwd } = await placedInside(config, plugin);
  const mine = Object.entries(config.env ?? {}).filter(([name]) => !Object.hasOwn(plugin.variables, name));
  const child: StdioConfig = { ...config, cwd, env: Object.fromEntries(mine) };
  return { config: { ...child, command: await runnable(command, { ...env, ...child.env }) }, env };
}

const HAS_SEPARATOR = /[/\\]/;

async function placedInside(config: StdioConfig, { root }: EntryPlugin): Promise<{ command: string; cwd: string }> {
  const realRoot = await realPath(root);
  const leadsOut = async (path: string) => !isInside(await realPath(path), realRoot);

  let { command } = config;
  if (HAS_SEPARATOR.test(command)) {
    command = resolve(root, command);
    if (await leadsOut(command)) throw new Error('the command of the server is outside its plugin');
  }
  const cwd = resolve(root, config.cwd ?? '.');
  if (await leadsOut(cwd)) throw new Error('the directory of the server is outside its plugin');
  // Without this check the program would be reported as missing.
  if (!(await stat(cwd).catch(() => undefined))?.isDirectory())
    throw new Error('the directory of the server is missing');
  return { command, cwd };
}

/** Replaces `node` by the Node that runs this server if PATH has none. */
async function runnable(command: string, env: NodeJS.ProcessEnv): Promise<string> {
  return command === 'node' && (await findOnPath(command, env.PATH)) === undefined ? process.execPath : command;
}
