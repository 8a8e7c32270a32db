/** A service of plugins, as a server of its own has it. */
import { join } from 'node:path';
import { systemClock } from '#server/clock.ts';
import { createLogger } from '#server/logging/log.ts';
import { createHttpClient } from '#server/net/http-client.ts';
import { createPlugins, pluginTimes, type Plugins, type PluginsDeps } from '#server/plugins/plugins.ts';
import { createPluginsWriter } from '#server/plugins/plugins-writer.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { leaseHolder } from './lease-holder.ts';

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
    files: createLocalRuntime({ env: () => ({}) }),
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
