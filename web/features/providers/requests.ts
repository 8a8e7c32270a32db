/** REST calls of the view of providers. */
import type { ImportCatalog, ImportRegistry, Rest } from '@service-code/client';

type Calls = Pick<Rest, 'request'>;

export const listProviders = async (rest: Calls) => (await rest.request('GET /api/v1/providers')).items;

export const removeProvider = (rest: Calls, provider_id: string) =>
  rest.request('DELETE /api/v1/providers/{provider_id}', { path: { provider_id } });

/** The public directory, which the server fetches at most every 10 minutes. */
export const readDirectory = async (rest: Calls) => (await rest.request('GET /api/v1/catalog/providers')).items;

/** Adds a provider of the directory with all of its models, or replaces the one with the same id. */
export const importEntry = (rest: Calls, body: ImportCatalog) =>
  rest.request('POST /api/v1/providers:import_catalog', { body });

export const importRegistry = (rest: Calls, body: ImportRegistry) =>
  rest.request('POST /api/v1/providers:import_registry', { body });

/** Reads the models again from where they were imported; of all providers, or of one. Resolves after the whole run. */
export const refreshModels = (rest: Calls, provider_id?: string) =>
  provider_id === undefined
    ? rest.request('POST /api/v1/providers:refresh')
    : rest.request('POST /api/v1/providers/{provider_id}:refresh', { path: { provider_id } });
