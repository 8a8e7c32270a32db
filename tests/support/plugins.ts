/** Plugins and their services for tests. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { PluginsDeps } from '#server/plugins/plugins.ts';
import { openPlugins, type OpenedPlugins } from './open-plugins.ts';

/** Writes files below a directory, by relative path; an object is written as JSON. */
export async function writeFiles(root: string, files: Readonly<Record<string, unknown>>): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(
      join(root, path),
      typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content),
    );
  }
  return root;
}

/** A service on a home, as a server of its own, until the test has finished. */
export function usePlugins(home: string, serverId = 'server_1', extra: Partial<PluginsDeps> = {}): OpenedPlugins {
  const opened = openPlugins(home, serverId, extra);
  onTestFinished(() => opened.plugins.close());
  return opened;
}
