/** Providers, the model list and the login summary. */
import type { Account } from '#server/account/account.ts';
import { MANAGED_PROVIDER } from '#server/account/credential-slots.ts';
import { subTable } from '#server/config/document.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { Config } from '#server/config/config.ts';
import { own } from '#server/config/effective.ts';
import type { EffectiveConfig } from '#server/config/effective.ts';
import { ENV_MODEL, ENV_PROVIDER } from '#server/config/environment-model.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { memoizeByObject } from '#server/memo/by-object.ts';
import type { ModelItem } from '#schema/rest/model.ts';
import type {
  AuthSummary,
  CreateProvider,
  ProviderDetail,
  ProviderItem,
  ReplaceProvider,
} from '#schema/rest/provider.ts';
import type { ProviderRecord } from '#schema/config/provider-record.ts';
import { modelItem, modelItems } from '../model-items.ts';
import { assertResolvable, providerBaseUrl, providerIdOf } from '../resolve.ts';
import { createProvider, deleteProvider, replaceProvider } from './provider-edits.ts';
import { tableText, WIRE_TYPES, wireTypeOf } from './wire-types.ts';

export interface Providers {
  /** In file order, no keys. */
  list(): Promise<ProviderItem[]>;
  /** Returns a provider with its stored key. Throws `provider.not_found`. */
  get(id: string): Promise<ProviderDetail>;
  /**
   * Adds a provider. Throws `provider.already_exists`, `validation.failed` for an alias of another provider,
   * `persistence.failure`.
   */
  create(form: CreateProvider, by?: Caller): Promise<ProviderItem>;
  /**
   * Replaces or renames a provider. Throws `provider.not_found`, `provider.oauth_managed`, `provider.already_exists`,
   * `validation.failed` for an alias of another provider, `persistence.failure`.
   */
  replace(id: string, form: ReplaceProvider, by?: Caller): Promise<ProviderItem>;
  /**
   * Deletes a provider and its models. Throws `provider.not_found`, `provider.oauth_managed`, `persistence.failure`.
   */
  remove(id: string, by?: Caller): Promise<void>;
  models(): ModelItem[];
  /** Throws `model.not_found`, `validation.failed` for a record that cannot be used, `persistence.failure`. */
  setDefault(alias: string, by?: Caller): Promise<{ default_model: string; model: ModelItem }>;
  /** Never fails, never touches the network. */
  auth(): Promise<AuthSummary>;
}

export interface ProvidersDeps {
  account: Pick<Account, 'hasToken' | 'status'>;
  config: Config;
  env: () => NodeJS.ProcessEnv;
}

export function createProviders({ account, config, env }: ProvidersDeps): Providers {
  async function item(id: string, record: ProviderRecord, effective: EffectiveConfig): Promise<ProviderItem> {
    const type = wireTypeOf(record.type);
    const baseUrl =
      id === ENV_PROVIDER && type ? providerBaseUrl(record, type, env()) : record.baseUrl?.trim() || undefined;
    const defaultModel = record.defaultModel?.trim() || globalDefault(id, effective);
    const inTable = type && tableText(record.env, WIRE_TYPES[type].keyVariable);
    const hasKey = Boolean(record.apiKey?.trim() || inTable);
    const connected = hasKey || (record.oauth !== undefined && (await account.hasToken(record.oauth)));
    return {
      id,
      type: record.type ?? 'openai',
      ...(baseUrl !== undefined && { base_url: baseUrl }),
      ...(defaultModel !== undefined && { default_model: defaultModel }),
      has_api_key: hasKey,
      status: connected ? 'connected' : 'unconfigured',
      models: aliasesOf(id, effective),
    };
  }

  async function existing(id: string): Promise<ProviderItem> {
    const effective = config.effective();
    const record = own(effective.providers, id);
    if (!record) throw new ServiceError('provider.not_found', `provider ${id} does not exist`);
    return item(id, record, effective);
  }

  return {
    async list() {
      const effective = config.effective();
      return Promise.all(Object.entries(effective.providers).map(([id, record]) => item(id, record, effective)));
    },
    async get(id) {
      const found = await existing(id);
      const key = own(config.stored().providers, id)?.apiKey;
      return key && id !== ENV_PROVIDER ? { ...found, api_key: key } : found;
    },
    async create(form, by) {
      await config.update(({ document }) => createProvider(document, form), by);
      return existing(form.id);
    },
    async replace(id, form, by) {
      return existing(await config.update(({ document }) => replaceProvider(document, id, form), by));
    },
    async remove(id, by) {
      return config.update(({ document }) => deleteProvider(document, id), by);
    },
    models: () => modelItems(config.effective()),
    setDefault: (alias, by) =>
      config.update(({ document }) => {
        const effective = config.effective();
        const record = own(effective.models, alias);
        if (!record) throw new ServiceError('model.not_found', `model ${alias} does not exist`);
        assertResolvable(effective, alias);
        // Records of the environment and of memory are not the file's.
        const stored = alias !== ENV_MODEL && subTable(document, 'models')?.[alias] !== undefined;
        if (stored) document.default_model = alias;
        return { default_model: alias, model: modelItem(alias, record, effective) };
      }, by),
    async auth() {
      const effective = config.effective();
      const status = await account.status();
      return {
        models_ready: modelsReady(effective),
        providers_count: Object.keys(effective.providers).length,
        managed_provider: status === undefined ? null : { name: MANAGED_PROVIDER, status },
      };
    },
  };
}

/** Scanning all models for each provider would take long in a list. */
const aliasesByProvider = memoizeByObject((models: EffectiveConfig['models']): ReadonlyMap<string, string[]> => {
  const found = new Map<string, string[]>();
  for (const [alias, { provider, providerId }] of Object.entries(models)) {
    const owner = providerId ?? provider;
    if (owner === undefined) continue;
    const aliases = found.get(owner);
    if (aliases) aliases.push(alias);
    else found.set(owner, [alias]);
  }
  return found;
});

const aliasesOf = (id: string, { models }: EffectiveConfig): string[] => aliasesByProvider(models).get(id) ?? [];

function globalDefault(id: string, effective: EffectiveConfig): string | undefined {
  const alias = effective.defaultModel?.trim() ?? '';
  return aliasesOf(id, effective).includes(alias) ? alias : undefined;
}

/** Does not check credentials, type or context size. */
function modelsReady(effective: EffectiveConfig): boolean {
  const record = own(effective.models, effective.defaultModel?.trim() ?? '');
  if (!record) return false;
  const provider = providerIdOf(record, effective);
  return provider === undefined ? Boolean(record.baseUrl?.trim()) : own(effective.providers, provider) !== undefined;
}
