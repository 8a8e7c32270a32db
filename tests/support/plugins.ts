/** Plugins and their services for tests. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock } from '#server/clock.ts';
import { createLogger } from '#server/logging/log.ts';
import { createHttpClient } from '#server/net/http-client.ts';
import { createPlugins, pluginTimes, type Plugins, type PluginsDeps } from '#server/plugins/plugins.ts';
import { createPluginsWriter } from '#server/plugins/plugins-writer.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { leaseHolder } from './lease-holder.ts';

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

export interface OpenedPlugins {
  plugins: Plugins;
  /** Actions of changes, `event` for each published one. */
  changes: string[];
  warnings: string[];
}

/** A service on a home, as a server of its own. */
export function openPlugins(home: string, serverId: string, extra: Partial<PluginsDeps> = {}): OpenedPlugins {
  const changes: string[] = [];
  const warnings: string[] = [];
  const client = createHttpClient();
  const plugins = createPlugins({
    home,
    lock: createChangeLock({
      path: join(home, 'plugins', 'installed.json.lock'),
      holder: leaseHolder(serverId),
      writer: createPluginsWriter(home),
      maxWaitMs: 120_000,
    }),
    documents: createDocuments({ home }),
    fetch: client.fetch,
    times: pluginTimes,
    env: () => ({}),
    clock: systemClock,
    log: createLogger('warn', (line) => warnings.push(line)),
    publish: () => changes.push('event'),
    ...extra,
  });
  plugins.onChange(({ action }) => void changes.push(action));
  return { plugins, changes, warnings };
}

/** The same until the test has finished. */
export function usePlugins(home: string, serverId = 'server_1', extra: Partial<PluginsDeps> = {}): OpenedPlugins {
  const opened = openPlugins(home, serverId, extra);
  onTestFinished(() => opened.plugins.close());
  return opened;
}
