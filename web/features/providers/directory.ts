/** Searches the directory of public providers, and summarizes its entries. */
import type { CatalogEntry, RejectReason } from '@service-code/client';
import { t, type PlainKey } from '../../messages/messages.ts';

export interface FoundEntry {
  entry: CatalogEntry;
  /** Names of models that the search matches, if the provider's texts do not. */
  models: readonly string[];
}

export interface Found {
  items: readonly FoundEntry[];
  /** Number of further matches. */
  more: number;
}

/** Number of entries that are drawn. */
export const MOST_DRAWN = 40;
const MOST_MODELS = 3;

type Search = (text: string) => Found;

const lower = (...texts: (string | null | undefined)[]) => texts.filter(Boolean).join('\n').toLowerCase();

/** Creates a search for entries that contain all words; matches in the names of providers come first. */
export function createSearch(entries: readonly CatalogEntry[]): Search {
  const indexed = entries.map((entry) => ({
    entry,
    text: lower(entry.id, entry.name, entry.env_key),
    models: entry.models.map(({ id, name }) => ({ name: name ?? id, text: lower(id, name) })),
  }));

  return (text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const named: FoundEntry[] = [];
    const others: FoundEntry[] = [];
    for (const { entry, text: own, models } of indexed) {
      const rest = words.filter((word) => !own.includes(word));
      if (rest.length === 0) named.push({ entry, models: [] });
      else {
        const matching = models.filter((model) => rest.every((word) => model.text.includes(word)));
        if (matching.length > 0) others.push({ entry, models: shortened(matching.map(({ name }) => name)) });
      }
    }
    const found = [...named, ...others];
    return { items: found.slice(0, MOST_DRAWN), more: Math.max(0, found.length - MOST_DRAWN) };
  };
}

function shortened(names: readonly string[]): string[] {
  const rest = names.length - MOST_MODELS;
  return rest > 0 ? [...names.slice(0, MOST_MODELS), t('providers.moreModels', { count: rest })] : [...names];
}

const rejections: Record<RejectReason, PlainKey> = {
  'unknown-explicit-type': 'providers.unknownProtocol',
  'proprietary-sdk': 'providers.vendorLibrary',
};

/** The reason why an entry cannot be added; undefined if it can. */
export function rejectionOf(entry: CatalogEntry): string | undefined {
  if (entry.rejected) return t(rejections[entry.reject_reason ?? 'unknown-explicit-type']);
  return entry.models.length === 0 ? t('providers.noUsableModel') : undefined;
}

const IS_PROVIDER_ID = /^[\p{L}\p{N}][\p{L}\p{N}\-_ ]*$/u;

/** The id under which an entry is stored by default: its own one, with characters replaced that ids may not contain. */
export function providerIdOf(catalogId: string): string {
  if (IS_PROVIDER_ID.test(catalogId)) return catalogId;
  return catalogId.replace(/[^\p{L}\p{N}\-_ ]+/gu, '-').replace(/^[^\p{L}\p{N}]+/u, '');
}
