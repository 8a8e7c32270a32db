/** The web services of the managed login: searches and page fetches of its cloud. */
import type { ServiceEntry } from '#schema/config/config.ts';
import { managedBaseUrl, type AddressInputs } from './addresses.ts';
import { normalized } from './cloud-settings.ts';
import { MANAGED_PROVIDER } from './credential-slots.ts';

export interface WebServices {
  search?: ServiceEntry;
  fetch?: ServiceEntry;
}

/**
 * Adds the services of the managed login where none is configured. A service that a login has configured follows an
 * address that the environment pins: its token is not the one of the stored address.
 */
export function withManagedServices(
  services: WebServices,
  inputs: Pick<AddressInputs, 'env' | 'providers'>,
): WebServices {
  const base = managedBaseUrl(inputs);
  const managed = inputs.providers?.[MANAGED_PROVIDER];
  if (base === undefined || !managed?.oauth) return services;
  const login = managed.oauth;
  const stored = normalized(managed.baseUrl ?? '');

  function entryOf(name: 'search' | 'fetch'): ServiceEntry {
    const entry = services[name];
    if (!entry) return { baseUrl: `${base}/${name}`, oauth: login };
    if (entry.oauth?.key !== login.key) return entry;
    const address = normalized(entry.baseUrl ?? '');
    return address === '' || address === `${stored}/${name}` ? { ...entry, baseUrl: `${base}/${name}` } : entry;
  }

  return { search: entryOf('search'), fetch: entryOf('fetch') };
}
