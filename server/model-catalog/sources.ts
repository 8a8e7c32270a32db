/** Where the models of a provider come from, which decides how they are refreshed. */
import { MANAGED_PROVIDER } from '#server/account/credential-slots.ts';
import { tableText, WIRE_TYPES } from '#server/models/providers/wire-types.ts';
import type { OAuthRef } from '#schema/rest/model.ts';
import type { ProviderRecord } from '#schema/config/provider-record.ts';

export type ModelSource =
  /** Never refreshed: written by hand, or imported from the directory. */
  | { kind: 'static' }
  /** The provider of the managed login. */
  | { kind: 'managed'; oauth: OAuthRef }
  /** The managed API with an API key. */
  | { kind: 'managed-by-key'; key: string }
  /** A custom registry. */
  | { kind: 'registry'; url: string; key: string };

/** `managedBase` is the managed base URL at run time. */
export function sourceOf(id: string, record: ProviderRecord, managedBase: string): ModelSource {
  const { type, oauth, source, modelSource } = record;
  if (modelSource === 'static') return { kind: 'static' };
  if (id === MANAGED_PROVIDER && type === 'native' && oauth) return { kind: 'managed', oauth };
  const key = record.apiKey?.trim() || tableText(record.env, WIRE_TYPES.native.keyVariable);
  if (type === 'native' && !oauth && !source && key && isSameBase(record.baseUrl, managedBase)) {
    return { kind: 'managed-by-key', key };
  }
  if (!oauth && source?.kind === 'apiJson' && typeof source.url === 'string' && typeof source.apiKey === 'string') {
    return { kind: 'registry', url: source.url, key: source.apiKey };
  }
  return { kind: 'static' };
}

/** Compares origin and path, without trailing slashes. */
function isSameBase(address: string | undefined, managedBase: string): boolean {
  const given = baseOf(address?.trim() ?? '');
  return given !== undefined && given === baseOf(managedBase);
}

/** Undefined for an address with further parts, such as a query. */
function baseOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { origin, pathname, href } = new URL(address);
  return href === origin + pathname ? href.replace(/\/+$/, '') : undefined;
}
