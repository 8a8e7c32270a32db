/** Resolves an alias to the data that a request needs, and checks whether it can work at all. */
import { readPinnedAddresses } from '#server/account/cloud-settings.ts';
import { MANAGED_PROVIDER } from '#server/account/credential-slots.ts';
import type { EffectiveConfig } from '#server/config/effective.ts';
import { own } from '#server/config/effective.ts';
import { envText } from '#server/env.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { ModelRecord, OAuthRef } from '#schema/rest/model.ts';
import type { ProviderRecord } from '#schema/config/provider-record.ts';
import { modelCapabilities } from './capabilities.ts';
import { inferClaude } from './claude.ts';
import type { Identity } from '#server/account/identity.ts';
import { headerLines, mergeHeaders } from '#server/account/identity.ts';
import type { Credential, ResolvedModel, WireType } from './types.ts';
import { tableText, WIRE_TYPES, wireTypeOf } from './providers/wire-types.ts';

type Env = NodeJS.ProcessEnv;

const refuse = (sentence: string) => new ServiceError('validation.failed', sentence);

/** Merges `overrides` into the record and drops a default effort that overridden efforts do not list any more. */
export function effectiveRecord({ overrides, ...base }: ModelRecord): ModelRecord {
  const record: ModelRecord = { ...base, ...overrides };
  // A malformed price in the overrides is treated as absent.
  if (base.cost && !overrides?.cost) record.cost = base.cost;
  const { defaultEffort, maxInputSize, maxContextSize } = record;
  if (overrides?.supportEfforts && defaultEffort !== undefined && !overrides.supportEfforts.includes(defaultEffort)) {
    delete record.defaultEffort;
  }
  if (maxInputSize !== undefined && maxContextSize !== undefined)
    record.maxInputSize = Math.min(maxInputSize, maxContextSize);
  return record;
}

export const wireNameOf = (record: ModelRecord): string | undefined =>
  record.name?.trim() || record.model?.trim() || undefined;

/** The provider a record names; undefined for a flat model. */
export function providerIdOf(record: ModelRecord, config: EffectiveConfig): string | undefined {
  return record.providerId ?? record.provider ?? (config.defaultProvider?.trim() || undefined);
}

/** Returns the record of an alias: a key of the table, else the record that lists it among its `aliases`. */
export function findModel(config: EffectiveConfig, alias: string): ModelRecord | undefined {
  return own(config.models, alias) ?? Object.values(config.models).find(({ aliases }) => aliases?.includes(alias));
}

export function hostOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).host : undefined;
}

/** A resolved model without its credentials. */
interface Placed {
  record: ModelRecord;
  wireName: string;
  contextTokens: number;
  providerId: string;
  provider: ProviderRecord | undefined;
  type: WireType;
}

/** Throws `validation.failed` with the reason why the record cannot be used. */
function place(config: EffectiveConfig, alias: string): Placed {
  const found = findModel(config, alias);
  if (!found) throw refuse(`model ${alias} is not configured`);
  const record = effectiveRecord(found);
  const named = providerIdOf(record, config);
  const provider = named === undefined ? undefined : own(config.providers, named);
  if (named !== undefined && !provider) throw refuse(`model ${alias} names provider ${named}, which is not configured`);
  const address = record.baseUrl?.trim();
  if (named === undefined && !address) throw refuse(`model ${alias} has neither a provider nor a base_url`);
  const wireName = wireNameOf(record);
  if (wireName === undefined) throw refuse(`model ${alias} has no model name`);
  if (record.maxContextSize === undefined) throw refuse(`model ${alias} has no max_context_size`);
  const written = provider ? provider.type : record.protocol;
  const type = wireTypeOf(written);
  if (!type) throw refuse(`provider ${named} has the unknown type ${JSON.stringify(written)}`);
  const clash = (owner: string, { apiKey, oauth }: { apiKey?: string | undefined; oauth?: OAuthRef | undefined }) => {
    if (apiKey?.trim() && oauth) throw refuse(`${owner} has both an api_key and an oauth reference`);
  };
  clash(`model ${alias}`, record);
  if (provider) clash(`provider ${named}`, provider);
  const providerId = named ?? hostOf(address ?? '') ?? '';
  return { record, wireName, contextTokens: record.maxContextSize, providerId, provider, type };
}

/** Throws `validation.failed` when the record of an alias cannot be used, regardless of its credentials. */
export function assertResolvable(config: EffectiveConfig, alias: string): void {
  place(config, alias);
}

/** Precedence: model key, model login, provider key or its `env` table, provider login. Ignores `process.env`. */
function storedCredential({ record, provider, type }: Placed): Credential | undefined {
  const modelKey = record.apiKey?.trim();
  if (modelKey) return { key: modelKey };
  if (record.oauth) return { login: record.oauth };
  const providerKey = provider?.apiKey?.trim() || tableText(provider?.env, WIRE_TYPES[type].keyVariable);
  if (providerKey) return { key: providerKey };
  return provider?.oauth && { login: provider.oauth };
}

/** Returns the base URL of a provider; undefined if the type derives it. */
export function providerBaseUrl(provider: ProviderRecord | undefined, type: WireType, env: Env): string | undefined {
  const { baseUrlVariable, defaultBaseUrl } = WIRE_TYPES[type];
  return (
    (provider?.baseUrl?.trim() || undefined) ??
    tableText(provider?.env, baseUrlVariable) ??
    envText(env, baseUrlVariable) ??
    defaultBaseUrl
  );
}

/** The address that the environment pins for the managed login: its tokens are not those of the stored address. */
function managedBaseUrl({ providerId, provider }: Placed, env: Env): string | undefined {
  return providerId === MANAGED_PROVIDER && provider?.oauth ? readPinnedAddresses(env).baseUrl : undefined;
}

export interface ResolveInputs {
  config: EffectiveConfig;
  env: Env;
  identity: Identity;
}

/** Throws `validation.failed` when the alias' record cannot be used. */
export function resolveModel(alias: string, { config, env, identity }: ResolveInputs): ResolvedModel {
  const placed = place(config, alias);
  const { wireName, contextTokens, providerId, provider, type } = placed;
  const protocol = placed.record.protocol ?? WIRE_TYPES[type].protocol;
  const record = inferClaude(placed.record, wireName, protocol, type);
  const fromEnvironment = envText(env, WIRE_TYPES[type].keyVariable);
  const credential = storedCredential(placed) ?? (fromEnvironment === undefined ? undefined : { key: fromEnvironment });
  const address = record.baseUrl?.trim() || (managedBaseUrl(placed, env) ?? providerBaseUrl(provider, type, env));
  const baseUrl = protocol === 'anthropic' ? address?.replace(/\/v1\/*$/, '') : address;
  const native = type === 'native';
  const variable = (name: string) => tableText(provider?.env, name) ?? envText(env, name);
  return {
    alias,
    wireName,
    providerId,
    providerType: type,
    protocol,
    ...(type === 'vertexai' && { vertex: vertexPlace(variable, baseUrl) }),
    ...(baseUrl !== undefined && { baseUrl }),
    ...(credential && { credential }),
    headers: native
      ? mergeHeaders(headerLines(env.SERVICE_CODE_CUSTOM_HEADERS), identity.headers(), provider?.customHeaders)
      : mergeHeaders(
          type === 'anthropic' ? headerLines(variable('ANTHROPIC_CUSTOM_HEADERS')) : undefined,
          { 'User-Agent': identity.userAgent(config.identity) },
          provider?.customHeaders,
        ),
    capabilities: modelCapabilities(wireName, record.capabilities),
    maxContextTokens: contextTokens,
    maxInputTokens: record.maxInputSize ?? contextTokens,
    ...(record.maxOutputSize !== undefined && { maxOutputTokens: record.maxOutputSize }),
    supportEfforts: record.supportEfforts?.map((effort) => effort.trim().toLowerCase()) ?? [],
    ...(record.defaultEffort !== undefined && { defaultEffort: record.defaultEffort }),
    ...(record.offEffort !== undefined && { offEffort: record.offEffort }),
    ...(record.reasoningKey !== undefined && { reasoningKey: record.reasoningKey }),
    ...(record.adaptiveThinking !== undefined && { adaptiveThinking: record.adaptiveThinking }),
    ...(record.betaApi !== undefined && { betaApi: record.betaApi }),
    displayName: record.displayName?.trim() || wireName,
  };
}

function vertexPlace(
  variable: (name: string) => string | undefined,
  baseUrl: string | undefined,
): { project?: string; location?: string } {
  const project = variable('GOOGLE_CLOUD_PROJECT');
  const fromHost = /^([a-z0-9-]+)-aiplatform\./.exec(hostOf(baseUrl ?? '') ?? '')?.[1];
  const location = variable('GOOGLE_CLOUD_LOCATION') ?? fromHost;
  return { ...(project !== undefined && { project }), ...(location !== undefined && { location }) };
}

const notResolved = (message: string, details?: Record<string, unknown>) =>
  new ServiceError('auth.model_not_resolved', message, details ? { details } : {});

/**
 * Returns the reason why no prompt to this alias (or to the default model) can succeed, undefined when it is ready.
 * `readiness` obtains the token of a login.
 */
export async function checkReady(
  alias: string | undefined,
  config: EffectiveConfig,
  readiness: (ref: OAuthRef) => Promise<'ready' | 'missing' | 'refused'>,
): Promise<ServiceError | undefined> {
  const id = alias?.trim() || config.defaultModel?.trim() || undefined;
  const record = id === undefined ? undefined : findModel(config, id);
  const named = record && providerIdOf(record, config);
  const flat = record !== undefined && named === undefined && Boolean(record.baseUrl?.trim());
  if (Object.keys(config.providers).length === 0 && !flat) {
    return new ServiceError('auth.provisioning_required', 'no provider is configured; add one or log in first');
  }
  if (id === undefined) return notResolved('no default model is configured');
  if (!record) return notResolved(`model ${id} is not configured`, { model_id: id });
  if (named !== undefined && !own(config.providers, named)) {
    return notResolved(`model ${id} names provider ${named}, which is not configured`, {
      model_id: id,
      provider_id: named,
    });
  }
  let placed: Placed;
  try {
    placed = place(config, id);
  } catch (error) {
    if (error instanceof ServiceError) return notResolved(error.message, { model_id: id });
    throw error;
  }
  const credential = storedCredential(placed);
  const state = !credential ? 'missing' : 'key' in credential ? 'ready' : await readiness(credential.login);
  if (state === 'ready') return undefined;
  const { providerId } = placed;
  if (state === 'refused') {
    return new ServiceError('auth.token_unauthorized', `the login of provider ${providerId} has ended; log in again`, {
      details: { provider_id: providerId },
    });
  }
  return new ServiceError('auth.token_missing', `provider ${providerId} has no credential; set an API key or log in`, {
    details: { provider_id: providerId },
  });
}
