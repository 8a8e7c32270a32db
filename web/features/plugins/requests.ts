/** REST calls of the view of plugins. */
import type { CapabilityStatus } from '#schema/rest/capability.ts';
import type { MarketplaceEntry, PluginSummary } from '#schema/rest/plugin.ts';
import { ApiError } from '../../client/errors.ts';
import type { Rest } from '../../client/rest.ts';

type Calls = Pick<Rest, 'request'>;

export type PluginAction = 'enable' | 'disable' | 'remove';

/** The catalog; `unconfigured` is the normal state of a server that names none. */
export type Market =
  | { kind: 'read'; entries: readonly MarketplaceEntry[] }
  | { kind: 'unconfigured' }
  | { kind: 'failed'; reason: string };

/** The end of the message; there is no code of its own. */
const UNCONFIGURED = /: no catalog is configured$/;

export const listPlugins = async (rest: Calls) =>
  (await rest.request<{ plugins: PluginSummary[] }>('GET', 'plugins')).plugins;

/** Installs a plugin, or replaces the installed one with the same id; resolves after the install. */
export const installPlugin = (rest: Calls, source: string) =>
  rest.request<PluginSummary>('POST', 'plugins', { body: { source } });

export const actOnPlugin = (rest: Calls, id: string, action: PluginAction) =>
  rest.request<unknown>('POST', `plugins/${encodeURIComponent(id)}:${action}`);

export async function readMarket(rest: Calls): Promise<Market> {
  try {
    const { entries } = await rest.request<{ entries: MarketplaceEntry[] }>('GET', 'plugins/marketplace');
    return { kind: 'read', entries };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 200) throw error;
    return UNCONFIGURED.test(error.message) ? { kind: 'unconfigured' } : { kind: 'failed', reason: error.message };
  }
}

export const listCapabilities = async (rest: Calls) =>
  (await rest.request<{ capabilities: CapabilityStatus[] }>('GET', 'capabilities')).capabilities;

/** Resolves after the start of the installation, which runs in the background. */
export const installCapability = (rest: Calls, id: string) =>
  rest.request<CapabilityStatus>('POST', `capabilities/${encodeURIComponent(id)}:install`);
