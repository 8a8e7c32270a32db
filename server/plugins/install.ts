/** Installs plugins and changes their rows, under the lock of the plugins. */
import { rm } from 'node:fs/promises';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { makeDurableDirectory } from '#server/files/atomic-write.ts';
import type { Logger } from '#server/logging/log.ts';
import type { ChangeLock } from '#server/storage/change-lock.ts';
import { iso } from '#schema/scalars.ts';
import type { Diagnostic } from './diagnostics.ts';
import { fetchSource, type FetchDeps, type FetchedPlugin } from './fetch-source.ts';
import { managedFolder, managedRoot, type PluginsWriter } from './plugins-writer.ts';
import { readRegistry, type InstalledEntry, type Registry } from './registry.ts';
import { parseSource, type PluginSource } from './sources.ts';
import { NotStored, stored } from './stored.ts';

export type PluginAction = 'enable' | 'disable' | 'remove';

export interface InstallDeps extends FetchDeps {
  lock: ChangeLock<PluginsWriter>;
  now(): number;
  /** Called before the files of plugins or their registry are changed. */
  onWrite(): void;
  log: Pick<Logger, 'warn'>;
}

export const loadFailure = (error: unknown): string => `Plugin state failed to load: ${errorMessage(error)}`;

/** Converts failures of the disk to `internal.error`. */
function storageFailure(error: unknown): unknown {
  return error instanceof NotStored ? new ServiceError('internal.error', error.message, { cause: error }) : error;
}

/** The registry; `validation.failed` if it cannot be read. */
async function loadRegistry(home: string): Promise<Registry> {
  try {
    return await readRegistry(home);
  } catch (error) {
    throw new ServiceError('validation.failed', loadFailure(error), { cause: error });
  }
}

/** Runs a change under the lock, after what a killed server left has been settled. */
async function change<T>(
  { home, lock, requests }: Pick<InstallDeps, 'home' | 'lock' | 'requests'>,
  work: (registry: Registry, writer: PluginsWriter) => Promise<T>,
): Promise<T> {
  try {
    await stored(makeDurableDirectory(home, managedFolder(home)));
    return await lock.hold(async (writer) => {
      await stored(writer.recover());
      return await work(await loadRegistry(home), writer);
    }, requests.signal);
  } catch (error) {
    throw storageFailure(error);
  }
}

/** The row after an install; switches are preserved. */
function installedEntry(
  before: InstalledEntry | undefined,
  { source, fetched, home, now }: { source: PluginSource; fetched: FetchedPlugin; home: string; now: string },
): InstalledEntry {
  const { id } = fetched.manifest;
  return {
    ...(before ?? { enabled: true, installedAt: now }),
    id,
    root: managedRoot(home, id),
    source: source.kind,
    originalSource: source.original,
    ...(before && { updatedAt: now }),
    // Also removes that of an earlier source.
    github: fetched.github,
  };
}

/** Replaces the row with the id of `entry` at its position, or appends it. */
function withEntry(registry: Registry, entry: InstalledEntry): Registry {
  const { plugins } = registry;
  const known = plugins.some(({ id }) => id === entry.id);
  return {
    ...registry,
    plugins: known ? plugins.map((row) => (row.id === entry.id ? entry : row)) : [...plugins, entry],
  };
}

/**
 * Installs from a source, or replaces the plugin with the same id. Throws `validation.failed`, `fs.path_not_found` and
 * `internal.error`; the earlier copy and its row are unchanged then.
 */
export async function installPlugin(
  text: string,
  deps: InstallDeps,
): Promise<{ id: string; diagnostics: Diagnostic[] }> {
  const source = parseSource(text);
  const { home, log, now, requests, onWrite } = deps;
  return change(deps, async (registry, writer) => {
    const staging = await stored(writer.createStaging());
    try {
      const fetched = await fetchSource(source, staging, deps);
      const { id } = fetched.manifest;
      const before = registry.plugins.find((row) => row.id === id);
      requests.signal.throwIfAborted();
      onWrite();
      await stored(writer.replace(fetched.folder, id));
      const entry = installedEntry(before, { source, fetched, home, now: iso(now()) });
      try {
        await stored(writer.writeRegistry(withEntry(registry, entry)));
      } catch (error) {
        await writer.restore(id).catch((err: unknown) => log.warn('a plugin could not be restored', { id, err }));
        throw error;
      }
      await writer
        .removePrevious(id)
        .catch((err: unknown) => log.warn('an old plugin could not be removed', { id, err }));
      return { id, diagnostics: fetched.diagnostics };
    } finally {
      await rm(staging, { recursive: true, force: true }).catch((err: unknown) =>
        log.warn('a staging folder could not be removed', { err }),
      );
    }
  });
}

/** Changes the row of a plugin. Throws `plugin.not_found`, `validation.failed` and `internal.error`. */
export async function actOn(sentId: string, action: PluginAction, deps: InstallDeps): Promise<{ id: string }> {
  const id = sentId.toLowerCase();
  return change(deps, async (registry, writer) => {
    const row = registry.plugins.find((entry) => entry.id === id);
    if (!row) throw new ServiceError('plugin.not_found', `Plugin "${sentId}" is not installed`);
    deps.onWrite();
    if (action === 'remove') {
      const plugins = registry.plugins.filter((entry) => entry !== row);
      await stored(writer.writeRegistry({ ...registry, plugins }));
    } else if (row.enabled !== (action === 'enable')) {
      const entry = { ...row, enabled: action === 'enable', updatedAt: iso(deps.now()) };
      await stored(writer.writeRegistry(withEntry(registry, entry)));
    }
    return { id };
  });
}
