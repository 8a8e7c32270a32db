/** REST calls of the view of providers. */
import type { CatalogEntry, ImportCatalog, ImportedProvider } from '#schema/rest/catalog.ts';
import type { ProviderItem } from '#schema/rest/provider.ts';
import type { ImportedRegistry, ImportRegistry, RefreshReport } from '#schema/rest/refresh.ts';
import type { Rest } from '../../client/rest.ts';

type Calls = Pick<Rest, 'request'>;

/** A colon in the first segment of a relative address would end a scheme. */
const PROVIDERS = './providers';
const pathOf = (id: string) => `${PROVIDERS}/${encodeURIComponent(id)}`;

export const listProviders = async (rest: Calls) =>
  (await rest.request<{ items: ProviderItem[] }>('GET', PROVIDERS)).items;

export const removeProvider = (rest: Calls, id: string) => rest.request<null>('DELETE', pathOf(id));

/** The public directory, which the server fetches at most every 10 minutes. */
export const readDirectory = async (rest: Calls) =>
  (await rest.request<{ items: CatalogEntry[] }>('GET', 'catalog/providers')).items;

/** Adds a provider of the directory with all of its models, or replaces the one with the same id. */
export const importEntry = (rest: Calls, body: ImportCatalog) =>
  rest.request<ImportedProvider>('POST', `${PROVIDERS}:import_catalog`, { body });

export const importRegistry = (rest: Calls, body: ImportRegistry) =>
  rest.request<ImportedRegistry>('POST', `${PROVIDERS}:import_registry`, { body });

/** Reads the models again from where they were imported; of all providers, or of one. Resolves after the whole run. */
export const refreshModels = (rest: Calls, id?: string) =>
  rest.request<RefreshReport>('POST', id === undefined ? `${PROVIDERS}:refresh` : `${pathOf(id)}:refresh`);
