/** Plugins with MCP servers that tests install from directories. */
import { chmod, cp } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { writeFiles } from './plugins.ts';

const HOSTILE = resolve('tests/support/hostile-mcp-server.mjs');

/** The path of the misbehaving MCP server in every plugin of `writePlugin`. */
export const SERVER = './server.mjs';

/** Writes a plugin with executable `files` and a copy of `hostile-mcp-server.mjs`; returns its directory. */
export async function writePlugin(
  root: string,
  manifest: { name: string } & Record<string, unknown>,
  files: Record<string, string> = {},
): Promise<string> {
  await writeFiles(root, { 'service.plugin.json': manifest, ...files });
  for (const path of Object.keys(files)) await chmod(join(root, path), 0o755);
  await cp(HOSTILE, join(root, SERVER));
  return root;
}
