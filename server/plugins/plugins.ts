/** The plugins of a home: installing, switching and removing them, and the catalog of those that could be installed. */
import { ServiceError } from '#server/errors/service-error.ts';
import type { MarketplaceEntry, PluginSummary } from '#schema/rest/plugin.ts';

export type PluginAction = 'enable' | 'disable' | 'remove';

export interface Plugins {
  /** The installed plugins, sorted by id, after the pending changes. Throws `internal.error` for an unreadable registry. */
  list(): Promise<PluginSummary[]>;
  /** Installs a plugin, or replaces the one with its id. */
  install(source: string): Promise<PluginSummary>;
  /** Throws `plugin.not_found`, and `validation.failed` for an unreadable registry. */
  act(id: string, action: PluginAction): Promise<void>;
  /** The catalog, compared with the installed plugins. Throws `internal.error`. */
  marketplace(): Promise<MarketplaceEntry[]>;
}

export function createPlugins(): Plugins {
  return {
    list: async () => [],
    async install(source) {
      throw new ServiceError('validation.failed', `Plugin root must be an absolute path (got "${source}")`);
    },
    async act(id) {
      throw new ServiceError('plugin.not_found', `Plugin "${id}" is not installed`);
    },
    async marketplace() {
      throw new ServiceError('internal.error', 'Plugin marketplace is unreachable: no catalog is configured');
    },
  };
}
