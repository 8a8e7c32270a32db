/** REST calls of the view of plugins. */
import { ApiError, type MarketplaceEntry, type Rest } from '@service-code/client';

type Calls = Pick<Rest, 'request'>;

export type PluginAction = 'enable' | 'disable' | 'remove';

/** The catalog; `unconfigured` is the normal state of a server that names none. */
export type Market =
  | { kind: 'read'; entries: readonly MarketplaceEntry[] }
  | { kind: 'unconfigured' }
  | { kind: 'failed'; error: ApiError };

/** The end of the message; there is no code of its own. */
const UNCONFIGURED = /: no catalog is configured$/;

export const listPlugins = async (rest: Calls) => (await rest.request('GET /api/v1/plugins')).plugins;

/** Installs a plugin, or replaces the installed one with the same id; resolves after the install. */
export const installPlugin = (rest: Calls, source: string) =>
  rest.request('POST /api/v1/plugins', { body: { source } });

export const actOnPlugin = (rest: Calls, plugin_id: string, action: PluginAction) =>
  rest.request(`POST /api/v1/plugins/{plugin_id}:${action}`, { path: { plugin_id } });

export async function readMarket(rest: Calls): Promise<Market> {
  try {
    const { entries } = await rest.request('GET /api/v1/plugins/marketplace');
    return { kind: 'read', entries };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 200) throw error;
    return UNCONFIGURED.test(error.message) ? { kind: 'unconfigured' } : { kind: 'failed', error };
  }
}

export const listCapabilities = async (rest: Calls) => (await rest.request('GET /api/v1/capabilities')).capabilities;

/** Resolves after the start of the installation, which runs in the background. */
export const installCapability = (rest: Calls, capability_id: string) =>
  rest.request('POST /api/v1/capabilities/{capability_id}:install', { path: { capability_id } });
