/** The plugins of a home: installing, switching and removing them, and the catalog of those that could be installed. */
import { coalesced } from '#server/async/coalesce.ts';
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import { lazy } from '#server/async/lazy.ts';
import { waitAtMost } from '#server/async/wait-at-most.ts';
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { compareNames } from '#server/files/compare-names.ts';
import type { FolderFiles } from '#server/files/markdown-files.ts';
import type { Logger } from '#server/logging/log.ts';
import { watchFiles } from '#server/mcp/config/watch-files.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { ChangeLock } from '#server/storage/change-lock.ts';
import type { Documents } from '#server/storage/documents.ts';
import type { MarketplaceEntry, PluginSummary } from '#schema/rest/plugin.ts';
import { createChecksums } from './checksums.ts';
import type { Diagnostic } from './diagnostics.ts';
import type { InstallDeps, PluginAction } from './install.ts';
import {
  isUsable,
  problemsOf,
  readInstalled,
  summaryOf,
  type EnabledPlugin,
  type InstalledPlugin,
  type InstalledPlugins,
} from './installed-plugins.ts';
import type { CapabilityRow } from './marketplace.ts';
import { hasLeftovers, type PluginsWriter } from './plugins-writer.ts';
import { registryFile, registryVersion } from './registry.ts';

/** Time limits of requests to other machines, in milliseconds. */
export interface PluginTimes {
  /** Limit of each lookup of a release or a commit. */
  lookupMs: number;
  /** Limit of a download, over all redirects. */
  downloadMs: number;
  /** Limit of each request for the catalog. */
  catalogMs: number;
}

export const pluginTimes: PluginTimes = { lookupMs: 10_000, downloadMs: 300_000, catalogMs: 10_000 };

/** How long the first load waits until the leftovers of a killed server are settled, in ms. Another server may be installing. */
const RECOVERY_WAIT_MS = 1000;

export interface PluginChange {
  /** `reload`: another server of the home made the change, or the registry was edited. */
  action: 'install' | PluginAction | 'reload';
  /** The plugin before the change; undefined if it was not installed, and for `reload`. */
  before: InstalledPlugin | undefined;
}

export interface Plugins {
  /** Loads the plugins, if they are not loaded, and follows changes by other servers. Never rejects. */
  ready(): Promise<void>;
  /** Loaded plugins that are enabled and have no errors, in the order of their installs. The list is not changed. */
  enabled(): readonly EnabledPlugin[];
  /** All installed plugins, in the order of their installs. Throws `internal.error` for an unreadable registry. */
  installed(): Promise<readonly InstalledPlugin[]>;
  /** Errors of the registry and of enabled plugins; empty until they are loaded. */
  problems(): Diagnostic[];
  /** The installed plugins, sorted by id, after the pending changes. Throws `internal.error` for an unreadable registry. */
  list(): Promise<PluginSummary[]>;
  /**
   * Installs a plugin, or replaces the one with its id. Throws `validation.failed`, `fs.path_not_found` and
   * `internal.error`.
   */
  install(source: string): Promise<PluginSummary>;
  /** Throws `plugin.not_found`, and `validation.failed` for an unreadable registry. */
  act(id: string, action: PluginAction): Promise<void>;
  /** The catalog, compared with the installed plugins. Throws `internal.error`. */
  marketplace(): Promise<MarketplaceEntry[]>;
  /** Called after each change, before its request is answered. Returns a function that removes the listener. */
  onChange(listener: (change: PluginChange) => void | Promise<void>): () => void;
  /** Cancels what is being downloaded, and waits for running changes. */
  close(): Promise<void>;
}

export interface PluginsDeps {
  home: string;
  lock: ChangeLock<PluginsWriter>;
  documents: Pick<Documents, 'get' | 'set'>;
  fetch: Fetch;
  times: PluginTimes;
  env(): NodeJS.ProcessEnv;
  clock: Pick<Clock, 'now'>;
  log: Logger;
  /** Publishes that plugins have changed. */
  publish(): void;
  /** Searches the folders of plugins for skills and commands. */
  files: FolderFiles;
  /** The registered capabilities, for the default catalog. */
  capabilityRows?(): readonly CapabilityRow[];
  /** Location of the default catalog; undefined while the region has none. */
  defaultCatalog?(): Promise<string | undefined>;
}

/** Creates the service; the disk is read by `ready`. */
export function createPlugins(deps: PluginsDeps): Plugins {
  const { home, lock, files, fetch, times, env, clock, log, publish } = deps;
  const { capabilityRows = () => [], defaultCatalog = async () => undefined } = deps;
  const checksums = createChecksums(deps.documents);
  const stopping = new AbortController();
  const requests = { fetch, signal: stopping.signal };
  const changes = createSerialQueue();
  const listeners = new Set<(change: PluginChange) => void | Promise<void>>();
  const loadInstall = lazy(() => import('./install.ts'));
  const loadCounter = lazy(async () => (await import('./count-markdown.ts')).createMarkdownCounter(files));
  const loadMarketplace = lazy(() => import('./marketplace.ts'));

  let current: InstalledPlugins = { version: undefined, plugins: [], failure: undefined };
  let usable: readonly EnabledPlugin[] = [];
  /** Whether a change of this process has not been loaded yet; meanwhile the watcher ignores the file. */
  let changing = false;

  const installDeps = {
    home,
    lock,
    requests,
    lookupMs: times.lookupMs,
    downloadMs: times.downloadMs,
    checksumOf: checksums.of,
    now: clock.now,
    log,
  };

  const load = coalesced(async () => {
    current = await readInstalled(home, async (root, manifest) => (await loadCounter())(root, manifest));
    usable = current.plugins.filter(isUsable);
  });

  async function notify(change: PluginChange): Promise<void> {
    for (const listener of listeners) {
      try {
        await listener(change);
      } catch (error) {
        log.warn('a change of the plugins could not be applied', { err: error });
      }
    }
    publish();
  }

  /** Follows a change by another server, or an edit. */
  const follow = coalesced(async () => {
    if (changing || stopping.signal.aborted) return;
    if ((await registryVersion(home)) === current.version) return;
    await load();
    await notify({ action: 'reload', before: undefined });
  });
  const followLater = () =>
    void follow().catch((error: unknown) => log.warn('plugins cannot be loaded again', { err: error }));

  /** Settles what a killed server left, unless another server is installing. Never rejects. */
  async function recover(): Promise<void> {
    try {
      if (!(await hasLeftovers(home))) return;
      await lock.hold((writer) => writer.recover(), stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted) log.warn('an interrupted install could not be settled', { err: error });
    }
  }

  let watcher: { close(): void } | undefined;
  let recovered: Promise<unknown> | undefined;
  const ready = lazy(async () => {
    let isSettled = false;
    recovered = recover().then(() => (isSettled = true));
    await waitAtMost(RECOVERY_WAIT_MS, recovered);
    const isLate = !isSettled;
    const watching = await watchFiles([registryFile(home)], followLater, log);
    if (stopping.signal.aborted) watching.close();
    else watcher = watching;
    await load();
    if (!isLate) return;
    // Copies may have been renamed back after the load.
    void recovered.then(load).then(() => notify({ action: 'reload', before: undefined }));
  });

  /** Throws `internal.error` if the registry cannot be read, after another attempt. */
  async function loaded(): Promise<InstalledPlugins> {
    await ready();
    if (current.failure !== undefined) await load();
    if (current.failure === undefined) return current;
    const { loadFailure } = await loadInstall();
    throw new ServiceError('internal.error', loadFailure(current.failure), { cause: current.failure });
  }

  const pluginOf = (id: string, { plugins }: InstalledPlugins) => plugins.find((plugin) => plugin.id === id);

  /** Runs a change, loads its result and announces it. Returns the plugin after it. */
  function change<T extends { id: string }>(
    action: PluginChange['action'],
    work: (modules: Awaited<ReturnType<typeof loadInstall>>, installDeps: InstallDeps) => Promise<T>,
  ): Promise<{ done: T; after: InstalledPlugin | undefined }> {
    return changes.run(async () => {
      stopping.signal.throwIfAborted();
      const modules = await loadInstall();
      await ready();
      let known = current;
      const onWrite = () => {
        changing = true;
        known = current;
      };
      try {
        const done = await work(modules, { ...installDeps, onWrite });
        const before = pluginOf(done.id, known);
        await load();
        const after = pluginOf(done.id, current);
        await notify({ action, before });
        return { done, after };
      } finally {
        changing = false;
        // The watcher may have reported a change of another server meanwhile.
        followLater();
      }
    });
  }

  return {
    ready,
    enabled: () => usable,
    installed: async () => (await loaded()).plugins,
    problems: () => problemsOf(current, home),
    async list() {
      await changes.settled();
      const { plugins } = await loaded();
      return plugins.map(summaryOf).toSorted((a, b) => compareNames(a.id, b.id));
    },
    async install(source) {
      const { done, after } = await change('install', ({ installPlugin }, using) => installPlugin(source, using));
      const { id, diagnostics } = done;
      for (const { message, path } of diagnostics.slice(0, MAX_LOGGED)) log.warn(message, { plugin: id, path });
      if (after) return summaryOf(after);
      throw new ServiceError('internal.error', `Plugin "${id}" was removed after its install`);
    },
    async act(id, action) {
      await change(action, ({ actOn }, using) => actOn(id, action, using));
    },
    async marketplace() {
      const { plugins } = await loaded();
      const { readMarketplace } = await loadMarketplace();
      return readMarketplace({
        configured: env().SERVICE_CODE_PLUGIN_MARKETPLACE_URL?.trim() || undefined,
        defaultLocation: await defaultCatalog(),
        capabilities: capabilityRows(),
        installed: new Map(
          plugins.map(({ id, enabled, manifest }) => [id, { enabled, version: manifest?.version }] as const),
        ),
        checksums,
        requests,
        requestMs: times.catalogMs,
      });
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      stopping.abort(new ServiceError('internal.error', 'the server is stopping'));
      watcher?.close();
      await changes.settled();
      await recovered;
    },
  };
}

/** Findings of an install that are logged. */
const MAX_LOGGED = 20;
