/** The rows of the catalog of plugins, compared with the installed ones. */
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { mapLimit } from '#server/async/map-limit.ts';
import type { MarketplaceEntry } from '#schema/rest/plugin.ts';
import {
  catalogLocation,
  parseCatalog,
  readCatalog,
  zipChecksums,
  type CatalogEntry,
  type CatalogLocation,
} from './catalog.ts';
import type { Checksums } from './checksums.ts';
import { latestRelease } from './repository.ts';
import { limited, type Requests } from './requests.ts';
import { repositoryOf } from './sources.ts';

/** Concurrent lookups of latest releases. */
const WIDTH = 32;

/** A capability of this server, whether or not this machine supports it. */
export interface CapabilityRow {
  id: string;
  displayName: string;
  description: string;
  supported: boolean;
}

/** Ids of catalog entries that belong to a capability. */
const CAPABILITY_OF: Readonly<Record<string, string>> = {
  'service-cu': 'service-cu',
  'service-cu-win': 'service-cu',
  'service-webbridge': 'service-webbridge',
};

export interface InstalledVersion {
  enabled: boolean;
  version: string | undefined;
}

export interface MarketplaceDeps {
  /** The configured location; it is not the default catalog. */
  configured: string | undefined;
  /** The location of the default catalog; undefined while the region has none. */
  defaultLocation: string | undefined;
  /** In the order of their registration. */
  capabilities: readonly CapabilityRow[];
  /** The installed plugins by id. */
  installed: ReadonlyMap<string, InstalledVersion>;
  checksums: Checksums;
  requests: Requests;
  /** Time limit of each request. */
  requestMs: number;
}

const unreachable = (error: unknown) =>
  new ServiceError('internal.error', `Plugin marketplace is unreachable: ${errorMessage(error)}`, { cause: error });

/** Reads and parses the catalog. Throws `internal.error`. */
async function entriesOf(configured: string, { requests, requestMs }: MarketplaceDeps): Promise<CatalogEntry[]> {
  let location: CatalogLocation;
  let json: string;
  try {
    location = catalogLocation(configured);
    json = await readCatalog(location, requests, requestMs);
  } catch (error) {
    throw unreachable(error);
  }
  try {
    return parseCatalog(json, location);
  } catch (error) {
    const cause = errorMessage(error);
    throw new ServiceError('internal.error', `Plugin marketplace returned an invalid catalog: ${cause}`, {
      cause: error,
    });
  }
}

/** Reads the catalog. Throws `internal.error`. */
export async function readMarketplace(deps: MarketplaceDeps): Promise<MarketplaceEntry[]> {
  const { configured, defaultLocation, capabilities } = deps;
  const isDefault = configured === undefined;
  const chosen = configured ?? defaultLocation;
  if (chosen === undefined) throw unreachable(new Error('no catalog is configured'));
  const entries = await entriesOf(chosen, deps);
  await deps.checksums.replace(zipChecksums(entries));

  const listed = new Set(entries.map(({ id }) => id));
  const added = isDefault ? capabilities.filter(({ id, supported }) => supported && !listed.has(id)) : [];
  const versions = await missingVersions(entries, deps);
  const semver = await import('semver');

  const rows = entries.flatMap((entry): MarketplaceEntry[] => {
    const version = entry.version ?? versions.get(entry.source);
    const capabilityId = isDefault ? CAPABILITY_OF[entry.id] : undefined;
    if (capabilityId !== undefined && !isSupported(capabilityId)) return [];
    const installed = installedOf(entry.id, capabilityId, deps.installed);
    const newer =
      version !== undefined &&
      installed?.version !== undefined &&
      semver.valid(version) !== null &&
      semver.valid(installed.version) !== null &&
      semver.gt(version, installed.version);
    return [
      {
        id: entry.id,
        tier: entry.tier,
        displayName: entry.displayName,
        ...(entry.description !== undefined && { description: entry.description }),
        ...(entry.homepage !== undefined && { homepage: entry.homepage }),
        ...(entry.keywords.length > 0 && { keywords: entry.keywords }),
        ...(version !== undefined && { version }),
        source: entry.source,
        ...(installed && { installed }),
        ...(newer && { updateAvailable: true as const }),
        ...(capabilityId !== undefined && { capabilityId }),
      },
    ];
  });
  return [...rows, ...added.map(capabilityRow)];

  function isSupported(id: string): boolean {
    return capabilities.some((capability) => capability.id === id && capability.supported);
  }
}

const capabilityRow = ({ id, displayName, description }: CapabilityRow): MarketplaceEntry => ({
  id,
  tier: 'official',
  displayName,
  description,
  source: `capability:${id}`,
});

/** The plugins whose state an entry shows; the first installed one counts. */
function shownPlugins(id: string, capabilityId: string | undefined): string[] {
  if (capabilityId !== 'service-cu') return [id];
  const both = ['service-cu', 'service-cu-win'];
  const isWindows = process.platform === 'win32' && process.arch === 'x64';
  return [...(isWindows ? both.toReversed() : both), id];
}

function installedOf(
  id: string,
  capabilityId: string | undefined,
  installed: MarketplaceDeps['installed'],
): MarketplaceEntry['installed'] {
  for (const plugin of shownPlugins(id, capabilityId)) {
    const found = installed.get(plugin.toLowerCase());
    if (found) return { enabled: found.enabled, ...(found.version !== undefined && { version: found.version }) };
  }
  return undefined;
}

/** Versions by source, of entries without one. Failures are ignored. */
async function missingVersions(
  entries: readonly CatalogEntry[],
  { requests, requestMs }: MarketplaceDeps,
): Promise<Map<string, string>> {
  const versions = new Map<string, string>();
  const sources = new Set(entries.flatMap(({ version, source }) => (version === undefined ? source : [])));
  if (sources.size === 0) return versions;
  const { valid } = await import('semver');
  const record = (source: string, tag: string | undefined) => {
    const version = tag?.replace(/^v/, '');
    if (version !== undefined && valid(version) !== null) versions.set(source, version);
  };

  const bare: string[] = [];
  for (const source of sources) {
    const repository = repositoryOf(source);
    if (repository?.ref) record(source, repository.ref.value);
    else if (repository) bare.push(source);
  }
  // One time limit for all: without the limit of concurrent requests each would have it for itself.
  await limited(requestMs, requests.signal, (signal) =>
    mapLimit(bare, WIDTH, async (source) => {
      const repository = repositoryOf(source);
      if (!repository || signal.aborted) return;
      record(source, await latestRelease(repository, { ...requests, signal }).catch(() => undefined));
    }),
  );
  return versions;
}
