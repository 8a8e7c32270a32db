/** The wire type and address of an entry of the directory, from its type, package, id and address. */
import { wireTypeSchema } from '#schema/config/provider-record.ts';
import type { RejectReason } from '#schema/rest/catalog.ts';
import type { WireType } from '#server/models/types.ts';
import type { DirectoryEntry, DirectoryModel } from './directory-entry.ts';

export type EntryWire = { type: WireType; guessed: boolean } | { rejected: RejectReason };

/** The address of a provider: `needed` if an import has to name one, undefined for the default of the protocol. */
export type EntryAddress = { baseUrl: string | undefined } | { needed: true };

/** Whether an address has a placeholder for a variable. */
export const hasPlaceholder = (address: string): boolean => address.includes('${');

const isProprietary = (npm: string) => /amazon-bedrock|cohere/.test(npm);

/** The wire type that a package or id names; undefined for neither. */
function namedWire(npm: string, id: string): WireType | undefined {
  if (npm.includes('anthropic') || /anthropic|claude/.test(id)) return 'anthropic';
  if (id.includes('vertex')) return 'vertexai';
  if (npm.includes('google') || /google|gemini/.test(id)) return 'google-genai';
  return npm.includes('openai') || id.includes('openai') ? 'openai' : undefined;
}

const npmOf = ({ npm }: { npm?: string | undefined }) => npm?.trim().toLowerCase() ?? '';

/** `key` is the id of an entry without one. */
export function wireOf(key: string, entry: DirectoryEntry): EntryWire {
  if (entry.type) {
    const { data } = wireTypeSchema.safeParse(entry.type);
    return data === undefined ? { rejected: 'unknown-explicit-type' } : { type: data, guessed: false };
  }
  const npm = npmOf(entry);
  const named = namedWire(npm, (entry.id ?? key).toLowerCase());
  if (named !== undefined) return { type: named, guessed: false };
  return isProprietary(npm) ? { rejected: 'proprietary-sdk' } : { type: 'openai', guessed: true };
}

/** Trims an address; clients of Anthropic's protocol add the version. */
export const addressFor = (type: WireType, address: string): string =>
  type === 'anthropic' ? address.trim().replace(/\/v1\/?$/, '') : address.trim();

/** The address in the directory; undefined if it is blank or has a placeholder. */
const usable = (api: string | undefined): string | undefined =>
  api?.trim() && !hasPlaceholder(api) ? api.trim() : undefined;

/** The address of an entry without one that the user names. */
export function addressOf(type: WireType, entry: DirectoryEntry): EntryAddress {
  const { api } = entry;
  const listed = usable(api);
  if (listed !== undefined) return { baseUrl: addressFor(type, listed) };
  if (api?.trim()) return { needed: true };
  const npm = npmOf(entry);
  // Only these packages have a default address that is also the default of the protocol.
  if ((type === 'openai' || type === 'openai_responses') && npm !== '@ai-sdk/openai') return { needed: true };
  if (type === 'anthropic' && npm !== '@ai-sdk/anthropic') return { needed: true };
  return { baseUrl: undefined };
}

/** A model that is served by another protocol or at another address than its entry. */
export interface ModelOverride {
  protocol?: 'anthropic';
  /** Undefined: the address of the provider. */
  baseUrl?: string;
}

/**
 * Returns the override of a model, empty for none; undefined if the model cannot be used because of it. `type` is
 * undefined for a rejected entry; `named` is the address that the user names instead of the entry's.
 */
export function overrideOf(
  { provider }: DirectoryModel,
  type: WireType | undefined,
  entry: DirectoryEntry,
  named: string | undefined,
): ModelOverride | undefined {
  if (!provider) return {};
  const npm = npmOf(provider);
  if (isProprietary(npm)) return undefined;
  if (provider.api !== undefined && hasPlaceholder(provider.api)) return undefined;
  if (type === undefined) return {};
  const own = usable(provider.api);
  const wire = npm === '' || npm === npmOf(entry) ? type : overriddenWire(npm, type);
  if (wire === type) {
    const isOther = own !== undefined && own !== usable(entry.api);
    return isOther ? { baseUrl: addressFor(type, own) } : {};
  }
  const listed = own ?? usable(entry.api);
  if (wire !== 'anthropic' || listed === undefined) return undefined;
  // An entry without a second address serves both protocols at its own, which the other one writes with the version.
  return { protocol: 'anthropic', baseUrl: addressFor('anthropic', own ?? named ?? listed) };
}

/** A package that no rule names is compatible with OpenAI's, as for entries. */
function overriddenWire(npm: string, type: WireType): WireType {
  const named = namedWire(npm, '');
  if (named === 'google-genai' && npm.includes('vertex')) return 'vertexai';
  // The responses API is spoken with the same package.
  if (named === 'openai' && type === 'openai_responses' && npm === '@ai-sdk/openai') return type;
  return named ?? 'openai';
}
