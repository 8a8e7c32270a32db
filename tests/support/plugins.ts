/** Plugins that tests install from directories. */
import { chmod, cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

const HOSTILE = resolve('tests/support/hostile-mcp-server.mjs');

/** The path of the misbehaving MCP server in every plugin of `writePlugin`. */
export const SERVER = './server.mjs';

/** Writes a plugin with executable `files` and a copy of `hostile-mcp-server.mjs`; returns its directory. */
export async function writePlugin(
  root: string,
  manifest: { name: string } & Record<string, unknown>,
  files: Record<string, string> = {},
): Promise<string> {
  await mkdir(root, { recursive: true });
  await writeFile(join(root, 'service.plugin.json'), JSON.stringify(manifest));
  await cp(HOSTILE, join(root, SERVER));
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
    await chmod(join(root, path), 0o755);
  }
  return root;
}
