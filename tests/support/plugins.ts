/** Plugins and their services for tests. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { readManifest } from '#server/plugins/manifest.ts';
import type { PluginsDeps } from '#server/plugins/plugins.ts';
import { managedRoot } from '#server/plugins/plugins-writer.ts';
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

const VERSIONED_FILES = 40;

/** Writes the source of a plugin whose files all contain its version; returns its directory. */
export function versioned(folder: string, id: string, version: string): Promise<string> {
  const files = Array.from({ length: VERSIONED_FILES }, (_, at) => [`d${at % 5}/f${at}`, version] as const);
  return writeFiles(join(folder, `${id}-${version}`), {
    'service.plugin.json': { name: id, version },
    ...Object.fromEntries(files),
  });
}

/** The version of the copy of such a plugin. Throws if the copy is not whole. */
export async function versionOf(home: string, id: string): Promise<string> {
  const entries = await readdir(managedRoot(home, id), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name !== 'service.plugin.json');
  const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')));
  const { manifest } = await readManifest(managedRoot(home, id));
  const version = manifest?.version ?? '';
  if (texts.length !== VERSIONED_FILES || texts.some((text) => text !== version)) throw new Error('not a whole copy');
  return version;
}
