/** The plugins of the home. */
import { join } from 'node:path';
import type { Account } from '#server/account/account.ts';
import { isPlaceholder } from '#server/account/regions.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Fetch } from '#server/net/http-client.ts';
import { createPlugins, type Plugins } from '#server/plugins/plugins.ts';
import { createPluginsWriter } from '#server/plugins/plugins-writer.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import type { Disposers } from './disposers.ts';
import type { Home } from './open-home.ts';
import type { AppOptions } from './options.ts';

/** Longer than any install of another server, whose download may take 5 minutes. */
const MAX_WAIT_MS = 15 * 60_000;

export interface OpenPluginsDeps {
  options: AppOptions;
  home: Home;
  account: Pick<Account, 'addresses' | 'noteUse'>;
  runtime: Runtime;
  fetch: Fetch;
  log: Logger;
}

/** Creates the service; nothing is loaded. */
export function openPlugins(
  { options, home, account, runtime, fetch, log }: OpenPluginsDeps,
  opened: Disposers,
): Plugins {
  const { clock, env, pluginFetch = fetch, pluginTimes: times } = options;
  const { documents, globalStream, instance } = home;
  const path = join(options.home, 'plugins', 'installed.json.lock');
  const { holder } = instance;
  return opened.add(
    createPlugins({
      home: options.home,
      lock: createChangeLock({ path, holder, maxWaitMs: MAX_WAIT_MS, writer: createPluginsWriter(options.home) }),
      documents,
      files: runtime,
      fetch: pluginFetch,
      times,
      env,
      clock,
      log,
      publish: () => globalStream.publish('event.plugin.changed', {}),
      async defaultCatalog() {
        const { cdnBase } = await account.addresses();
        if (isPlaceholder(cdnBase)) return undefined;
        account.noteUse(cdnBase);
        return `${cdnBase}/plugins/marketplace.json`;
      },
      capabilityRows: () =>
        options.capabilities.map(({ id, displayName, description, installer }) => ({
          id,
          displayName,
          description,
          supported: installer !== undefined,
        })),
    }),
  );
}
