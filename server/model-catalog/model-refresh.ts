/** Refreshes the models of providers from their sources, and imports custom registries. */
import { createHash } from 'node:crypto';
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import type { Account } from '#server/account/account.ts';
import { MANAGED_PROVIDER } from '#server/account/credential-slots.ts';
import type { Config, ConfigDraft } from '#server/config/config.ts';
import type { TomlTable } from '#server/config/document.ts';
import { own } from '#server/config/effective.ts';
import { ENV_PROVIDER } from '#server/config/environment-model.ts';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { ImportRegistry, RefreshReport } from '#schema/rest/refresh.ts';
import { applyChange } from './change.ts';
import { changeManaged, changeModels, type ModelCounts } from './managed-change.ts';
import { parseRegistry } from './parse-registry.ts';
import { refreshRegistry, type FetchedRegistry, type RegistryOutcome } from './registry-change.ts';
import { importRegistry, type ImportOutcome } from './registry-import.ts';
import { createRemoteModels, type RemoteModelsDeps } from './remote-models.ts';
import { createReport } from './report.ts';
import { sourceOf, type ModelSource } from './sources.ts';

const MANAGED_NAME = 'Service Code';

/** The providers of a run: all, only the managed one, or a single one by its id. */
export type RefreshScope = 'all' | 'oauth' | { provider: string };

export interface ModelRefresh {
  /**
   * Refreshes providers after all runs requested earlier. Failures are in the report: those of sources, and of writes.
   * Throws `provider.not_found`.
   */
  refresh(scope: RefreshScope, by?: Caller): Promise<RefreshReport>;
  /**
   * Imports the providers of a registry. Throws `registry.import_invalid`, `provider.oauth_managed`,
   * `validation.failed` for an alias of another provider, `persistence.failure`.
   */
  import(form: ImportRegistry, by?: Caller): Promise<ImportOutcome>;
  /** Aborts running requests and waits for the runs. */
  close(): Promise<void>;
}

export interface ModelRefreshDeps extends Omit<RemoteModelsDeps, 'signal' | 'account' | 'config'> {
  account: Pick<Account, 'authorized' | 'noteUse' | 'loginAddresses'>;
  config: Config;
  /** Publishes the report of a run that changed models. */
  publish(report: RefreshReport): void;
  log: Logger;
}

/** A refresh that changed nothing: the same reply does not change the same file either. */
interface Unchanged {
  digest: string;
  key: string;
  outcome: RegistryOutcome;
}

/** Creates the service; nothing is requested before its first use. */
export function createModelRefresh(deps: ModelRefreshDeps): ModelRefresh {
  const { account, config, publish, log } = deps;
  /** By the file and the URL of the registry. */
  const unchanged = new WeakMap<TomlTable, Map<string, Unchanged>>();
  const runs = createSerialQueue();
  const stop = new AbortController();
  const remote = createRemoteModels({ ...deps, signal: stop.signal });

  async function run(scope: RefreshScope, by: Caller | undefined): Promise<RefreshReport> {
    stop.signal.throwIfAborted();
    await config.reload();
    const { baseUrl: base } = await account.loginAddresses();
    const source = (id: string, { stored }: ConfigDraft): ModelSource => {
      const record = own(stored.providers, id);
      return record ? sourceOf(id, record, base) : { kind: 'static' };
    };
    const ids = idsOf(scope, config);
    const inScope = ids.filter((id) => scope !== 'oauth' || source(id, config.draft()).kind === 'managed');
    const report = createReport(inScope);
    /** Registries that were refreshed for an earlier provider of the run. */
    const done = new Set<string>();

    async function refreshOne(id: string, from: ModelSource): Promise<void> {
      switch (from.kind) {
        case 'managed':
        case 'managed-by-key': {
          const counts = await refreshManaged(id, from);
          if (counts) report.changed({ provider_id: id, provider_name: nameOf(id), ...counts });
          else report.unchanged(id);
          return;
        }
        case 'registry':
          if (done.has(from.url)) return;
          done.add(from.url);
          await refreshGroup(from.url, typeof scope === 'object' ? id : undefined);
          return;
        case 'static':
          report.unchanged(id);
      }
    }

    async function refreshManaged(id: string, from: Extract<ModelSource, { kind: `managed${string}` }>) {
      const customHeaders = own(config.stored().providers, id)?.customHeaders;
      const target = { base, provider: id, customHeaders };
      const listed =
        from.kind === 'managed'
          ? await remote.listWithLogin(target, from.oauth)
          : await remote.listWithKey(target, from.key);
      return applyChange<ModelCounts | undefined>(
        config,
        (draft) => {
          // The provider may have been removed or replaced during the request.
          if (source(id, draft).kind !== from.kind) return { result: undefined };
          if (from.kind === 'managed-by-key') return changeModels(draft, id, listed);
          return changeManaged(draft, listed, base, (provider) => source(provider, draft).kind === 'static');
        },
        by,
      );
    }

    const groupOf = (url: string, draft: ConfigDraft) =>
      Object.keys(draft.stored.providers ?? {}).flatMap((id) => {
        const from = source(id, draft);
        return from.kind === 'registry' && from.url === url ? [{ id, key: from.key }] : [];
      });

    async function refreshGroup(url: string, only: string | undefined): Promise<void> {
      const group = groupOf(url, config.draft());
      const keys = [...new Set(group.map((member) => member.key))];
      try {
        const apply = await remote.registry(url, keys, async (bytes, signal, key) => {
          const digest = createHash('sha256').update(bytes).digest('base64');
          const known = only === undefined ? unchanged.get(config.draft().document)?.get(url) : undefined;
          if (known?.digest === digest && known.key === key) return () => known.outcome;
          const document = await parseRegistry(bytes, signal);
          return () => applyRegistry({ url, key, document }, digest, only);
        });
        report.add(await apply());
      } catch (error) {
        for (const { id } of group) if (only === undefined || id === only) report.failed(id, errorMessage(error));
      }
    }

    async function applyRegistry(
      fetched: FetchedRegistry,
      digest: string,
      only: string | undefined,
    ): Promise<RegistryOutcome> {
      const { url, key, document } = fetched;
      noteSkipped(document.skipped);
      let file: TomlTable | undefined;
      const outcome = await applyChange(
        config,
        (draft) => {
          file = draft.document;
          const present = new Set(groupOf(url, draft).map(({ id }) => id));
          // All providers of the registry were removed during the request.
          if (present.size === 0) return { result: { changed: [], unchanged: [], failed: [] } };
          return refreshRegistry(draft, fetched, present, only);
        },
        by,
      );
      if (file && only === undefined && outcome.changed.length === 0)
        unchanged.set(file, new Map(unchanged.get(file)).set(url, { digest, key, outcome }));
      return outcome;
    }

    for (const id of inScope) {
      try {
        await refreshOne(id, source(id, config.draft()));
      } catch (error) {
        report.failed(id, errorMessage(error));
      }
    }
    const finished = report.finish();
    for (const { provider, reason } of finished.failed) {
      log.warn('the models of a provider could not be refreshed', { provider, reason });
    }
    if (finished.changed.length > 0) publish(finished);
    return finished;
  }

  function noteSkipped(skipped: ReadonlySet<string>): void {
    if (skipped.size === 0) return;
    const ids = [...skipped].slice(0, 10).map((id) => id.slice(0, 100));
    log.warn('entries of a registry are not valid', { count: skipped.size, ids });
  }

  async function fetchForImport(form: ImportRegistry): Promise<FetchedRegistry> {
    const { url } = form;
    const refuse = (reason: string) => new ServiceError('registry.import_invalid', reason);
    const address = URL.canParse(url) ? new URL(url) : undefined;
    if (address?.protocol !== 'https:' && address?.protocol !== 'http:') {
      throw refuse(`custom registry at ${url} cannot be imported: the URL must start with http:// or https://`);
    }
    const key = form.api_key ?? storedKey(url);
    try {
      const document = await remote.registry(url, [key], parseRegistry);
      noteSkipped(document.skipped);
      if (document.entries.length > 0) return { url, key, document };
    } catch (error) {
      throw refuse(`custom registry at ${url} cannot be imported: ${errorMessage(error)}`);
    }
    throw refuse(`custom registry at ${url} has no importable providers`);
  }

  /** The first key that is stored for the registry. */
  function storedKey(url: string): string {
    for (const { source } of Object.values(config.stored().providers ?? {})) {
      const key = source?.kind === 'apiJson' && source.url === url ? source.apiKey : undefined;
      if (typeof key === 'string' && key !== '') return key;
    }
    return '';
  }

  return {
    refresh: (scope, by) => runs.run(() => run(scope, by)),
    async import(form, by) {
      const fetched = await fetchForImport(form);
      const outcome = await applyChange(config, (draft) => importRegistry(draft, fetched), by);
      const { ids, changed, retired } = outcome;
      if (retired) {
        const unchanged = ids.filter((id) => !changed.some(({ provider_id }) => provider_id === id));
        publish({ changed, unchanged, failed: [], retired_default: retired });
      }
      return outcome;
    },
    async close() {
      stop.abort(new Error('the server stops'));
      await runs.settled();
    },
  };
}

const nameOf = (id: string) => (id === MANAGED_PROVIDER ? MANAGED_NAME : id);

/** Throws `provider.not_found`. */
function idsOf(scope: RefreshScope, config: Config): string[] {
  const stored = Object.keys(config.stored().providers ?? {});
  const effective = config.effective().providers;
  if (scope === 'oauth') return stored.filter((id) => id === MANAGED_PROVIDER);
  if (scope === 'all')
    return [...stored, ...(own(effective, ENV_PROVIDER) && !stored.includes(ENV_PROVIDER) ? [ENV_PROVIDER] : [])];
  if (!own(effective, scope.provider)) {
    throw new ServiceError('provider.not_found', `provider ${scope.provider} does not exist`);
  }
  return [scope.provider];
}
