/** Brings the files of a source into a staging folder. */
import { realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { isInside } from '#server/files/paths.ts';
import type { PluginRepository } from '#schema/rest/plugin.ts';
import { pluginTop, unpack } from './archive.ts';
import { copyFolder } from './copy.ts';
import { isError, type Diagnostic } from './diagnostics.ts';
import { downloadTo, MAX_DOWNLOAD_BYTES } from './download.ts';
import { readManifest, type PluginManifest } from './manifest.ts';
import { archiveUrl, resolveRepository } from './repository.ts';
import type { Requests } from './requests.ts';
import type { PluginSource } from './sources.ts';
import { MAX_BYTES, MAX_ENTRIES } from './unpack-limits.ts';

const LIMITS = { maxBytes: MAX_BYTES, maxEntries: MAX_ENTRIES };

export interface FetchDeps {
  home: string;
  requests: Requests;
  lookupMs: number;
  downloadMs: number;
  /** SHA-256 of a zip that a catalog names; undefined for other addresses. */
  checksumOf(url: string): Promise<string | undefined>;
}

export interface FetchedPlugin {
  /** The staged directory of the plugin. */
  folder: string;
  manifest: PluginManifest;
  github: PluginRepository | undefined;
  /** Findings about what was not copied. */
  diagnostics: Diagnostic[];
}

const refused = (reason: string, cause?: unknown) => new ServiceError('validation.failed', reason, { cause });

/** The manifest; throws `validation.failed` if the plugin has no name. */
async function validManifest(folder: string, what: string): Promise<PluginManifest> {
  const { manifest, diagnostics } = await readManifest(folder);
  if (manifest) return manifest;
  throw refused(`Cannot install plugin ${what}: ${diagnostics.find(isError)?.message ?? 'the manifest is invalid'}`);
}

/**
 * Stages a plugin. Throws `validation.failed` for a source that cannot be used, `fs.path_not_found` for a missing
 * directory, and `NotStored`.
 */
export async function fetchSource(source: PluginSource, staging: string, deps: FetchDeps): Promise<FetchedPlugin> {
  if (source.kind === 'local-path') return fetchFolder(source.path, staging, deps);
  const { signal } = deps.requests;
  const repository = source.kind === 'github' ? await repositoryAt(source, deps) : undefined;
  const url = source.kind === 'github' ? repository?.url : source.url;
  if (url === undefined) throw new Error('no address');
  const archive = join(staging, 'archive.zip');
  const limits = { ms: deps.downloadMs, maxBytes: MAX_DOWNLOAD_BYTES };
  const expected = source.kind === 'zip-url' ? await deps.checksumOf(url) : undefined;
  const sha256 = await downloadTo(archive, url, deps.requests, limits);
  if (expected !== undefined && expected !== sha256) throw refused('Downloaded zip does not match its checksum');
  const unpacked = join(staging, 'unpacked');
  await unpack(archive, unpacked, LIMITS, signal);
  const folder = await pluginTop(unpacked);
  const manifest = await validManifest(folder, `from ${source.original}`);
  return { folder, manifest, github: repository?.github, diagnostics: [] };
}

async function repositoryAt(
  source: PluginSource & { kind: 'github' },
  { requests, lookupMs }: FetchDeps,
): Promise<{ url: string; github: PluginRepository }> {
  try {
    const found = await resolveRepository(source, requests, lookupMs);
    const { owner, repo, ref, sha } = found;
    return { url: archiveUrl(found), github: { owner, repo, ref, installedSha: sha } };
  } catch (error) {
    requests.signal.throwIfAborted();
    throw refused(`Failed to look up ${source.original}: ${errorMessage(error)}`, error);
  }
}

async function fetchFolder(path: string, staging: string, { home, requests }: FetchDeps): Promise<FetchedPlugin> {
  let real: string;
  try {
    real = await realpath(path);
  } catch (error) {
    throw new ServiceError('fs.path_not_found', `Plugin root does not exist: ${path}`, { cause: error });
  }
  if (!(await stat(real)).isDirectory()) throw refused(`Plugin root is not a directory: ${path}`);
  const realHome = await realpath(home);
  if (isInside(real, realHome) || isInside(realHome, real)) {
    throw refused(`Cannot install plugin at ${path}: it contains the server's home or is part of it`);
  }
  await validManifest(real, `at ${path}`);
  const folder = join(staging, 'copy');
  const diagnostics = await copyFolder({ real, shown: path }, folder, LIMITS, requests.signal);
  return { folder, manifest: await validManifest(folder, `at ${path}`), github: undefined, diagnostics };
}
