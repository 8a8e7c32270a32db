/** The catalog of plugins that could be installed: its location, its text, its entries. */
import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { errorMessage } from '#server/errors/service-error.ts';
import { readRegular } from '#server/files/read-regular.ts';
import { readBounded } from '#server/net/read-bounded.ts';
import { parseJson } from '#server/text/json.ts';
import { jsonErrorReason } from '#server/text/json-error.ts';
import { getFollowing, limited, statusText, type Requests } from './requests.ts';
import { archiveAddress, repositoryOf } from './sources.ts';

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_ENTRIES = 2000;

/** Trims; undefined for a blank text. */
const text = z.string().transform((value) => value.trim() || undefined);
const required = z.string().trim().min(1);

const entrySchema = z
  .object({
    id: required,
    source: text.optional(),
    url: text.optional(),
    downloadUrl: text.optional(),
    displayName: text.optional(),
    name: text.optional(),
    tier: z.enum(['official', 'curated']).optional(),
    type: z.enum(['plugin', 'managed', 'guide']).optional(),
    version: text.optional(),
    description: text.optional(),
    shortDescription: text.optional(),
    homepage: text.optional(),
    websiteURL: text.optional(),
    keywords: z.array(z.string()).optional(),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/i)
      .transform((sum) => sum.toLowerCase())
      .optional(),
  })
  .transform(({ source, url, downloadUrl, ...entry }, context) => {
    const address = source ?? url ?? downloadUrl;
    if (address !== undefined) return { ...entry, source: address };
    context.addIssue({ code: 'custom', message: 'no source', path: ['source'] });
    return z.NEVER;
  });

const catalogSchema = z.object({ plugins: z.array(entrySchema).max(MAX_ENTRIES) });

export interface CatalogEntry {
  id: string;
  /** Absolute: an address or a path. */
  source: string;
  displayName: string;
  tier: 'official' | 'curated' | 'third-party';
  version: string | undefined;
  description: string | undefined;
  homepage: string | undefined;
  keywords: string[];
  /** In lower case. */
  sha256: string | undefined;
}

/** Address or absolute path of a catalog. */
export type CatalogLocation = { kind: 'url'; url: string } | { kind: 'file'; path: string };

const isWebAddress = (value: string): boolean => /^https?:\/\//i.test(value);

/** The path of a `file:` URL, of `~/…` or of an absolute path; undefined for anything else. */
function localPath(value: string): string | undefined {
  if (/^file:/i.test(value)) return fileURLToPath(value);
  if (value === '~' || value.startsWith('~/')) return join(homedir(), value.slice(1));
  return isAbsolute(value) ? value : undefined;
}

/** Throws for an invalid address. */
export function catalogLocation(configured: string): CatalogLocation {
  if (isWebAddress(configured)) return { kind: 'url', url: new URL(configured).href };
  return { kind: 'file', path: localPath(configured) ?? resolve(configured) };
}

/** The absolute form of an entry's source. Throws for an invalid address. */
function absoluteSource(source: string, location: CatalogLocation): string {
  if (isWebAddress(source)) return repositoryOf(source) ? source : archiveAddress(source);
  const path = localPath(source);
  if (path !== undefined) return path;
  if (/^[a-z][a-z0-9+.-]+:/i.test(source)) throw new Error(`an address of an unknown kind`);
  return location.kind === 'url'
    ? archiveAddress(new URL(source, location.url).href)
    : resolve(dirname(location.path), source);
}

/** Reads the text of a catalog. Throws an error with the cause for people. */
export async function readCatalog(location: CatalogLocation, requests: Requests, ms: number): Promise<string> {
  if (location.kind === 'file') {
    return Buffer.from(await readRegular(location.path, { maxBytes: MAX_BYTES })).toString('utf8');
  }
  return limited(ms, requests.signal, async (signal) => {
    const response = await getFollowing(location.url, { ...requests, signal });
    if (response.ok) return Buffer.from(await readBounded(response, MAX_BYTES)).toString('utf8');
    await response.body?.cancel();
    throw new Error(`HTTP ${statusText(response)}`);
  });
}

function parsed(json: string): unknown {
  const withoutMark = json.replace(/^\uFEFF/, '');
  try {
    return parseJson(withoutMark);
  } catch (error) {
    throw new Error(jsonErrorReason(error, withoutMark), { cause: error });
  }
}

/** Parses a catalog. One bad entry invalidates it: throws an error with the cause for people. */
export function parseCatalog(json: string, location: CatalogLocation): CatalogEntry[] {
  const result = catalogSchema.safeParse(parsed(json));
  if (!result.success) {
    const [issue] = result.error.issues;
    throw new Error([issue?.path.join('.'), issue?.message].filter(Boolean).join(': '), { cause: result.error });
  }
  const entries = result.data.plugins.map((entry, at): CatalogEntry => {
    try {
      return {
        id: entry.id,
        source: absoluteSource(entry.source, location),
        displayName: entry.displayName ?? entry.name ?? entry.id,
        tier: entry.tier ?? 'third-party',
        version: entry.version,
        description: entry.description ?? entry.shortDescription,
        homepage: entry.homepage ?? entry.websiteURL,
        keywords: (entry.keywords ?? []).map((keyword) => keyword.trim()).filter(Boolean),
        sha256: entry.sha256,
      };
    } catch (error) {
      throw new Error(`plugins.${at}.source: ${errorMessage(error)}`, { cause: error });
    }
  });
  // Checked for all sources, also for those whose checksum is ignored.
  checksumsOf(entries, () => true);
  return entries;
}

const isZip = (source: string): boolean => isWebAddress(source) && !repositoryOf(source);

/** The checksums of zip archives, by address; those of repositories are ignored, whose archives may change. */
export function zipChecksums(entries: readonly CatalogEntry[]): Map<string, string> {
  return checksumsOf(entries, ({ source }) => isZip(source));
}

function checksumsOf(entries: readonly CatalogEntry[], wanted: (entry: CatalogEntry) => boolean): Map<string, string> {
  const checksums = new Map<string, string>();
  for (const entry of entries) {
    const { source, sha256 } = entry;
    if (sha256 === undefined || !wanted(entry)) continue;
    if ((checksums.get(source) ?? sha256) !== sha256) throw new Error(`one source has two checksums: ${entry.id}`);
    checksums.set(source, sha256);
  }
  return checksums;
}
