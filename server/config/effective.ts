/** The configuration in effect, merged from built-in defaults, file, environment and in-memory layer. */
import type { ModelRecord } from '#schema/rest/model.ts';
import type { ProviderRecord } from '#schema/config/provider-record.ts';
import type { ServiceEntry } from '#schema/config/config.ts';
import { ENV_MODEL, ENV_PROVIDER, readModelVariables } from './environment-model.ts';
import { readEnvironment, readServices } from './environment.ts';
import type { ServiceVariables } from './environment.ts';
import type { StoredConfig } from './stored.ts';

export const DEFAULT_SUBAGENT_TIMEOUT_MS = 7_200_000;

/** The highest layer, which is never written to the file (`--demo`). */
export interface MemoryLayer {
  providers: Record<string, ProviderRecord>;
  models: Record<string, ModelRecord>;
  defaultModel: string | undefined;
}

/** Domain members in wire spelling. An absent member is not set; its reader has a default. */
export type EffectiveConfig = ReturnType<typeof effectiveConfig>;

/** Merges the layers; cheap enough to call at each use. */
export function effectiveConfig(stored: StoredConfig, env: NodeJS.ProcessEnv, memory?: MemoryLayer) {
  const variables = readEnvironment(env);
  const { defined, thinkingEffort } = readModelVariables(env);
  const { yolo, planMode, defaultPermissionMode, secondaryModel, ...file } = stored;
  const services = readServices(env);
  const search = service(file.services?.search, services.search);
  const fetch = service(file.services?.fetch, services.fetch);
  const set = <T extends object>(file: T | undefined, over: Partial<T>): T | undefined =>
    file === undefined && Object.keys(over).length === 0 ? undefined : Object.assign({}, file, over);
  return {
    ...file,
    planMode,
    defaultModel: memory?.defaultModel ?? (defined ? ENV_MODEL : file.defaultModel),
    defaultPermissionMode: defaultPermissionMode ?? (yolo ? ('yolo' as const) : undefined),
    defaultPlanMode: (file.defaultPlanMode ?? false) || planMode === true,
    providers: records(file.providers, memory?.providers, defined && [ENV_PROVIDER, defined.provider]),
    models: records(file.models, memory?.models, defined && [ENV_MODEL, defined.model]),
    thinking: { ...file.thinking, ...(thinkingEffort !== undefined && { forcedEffort: thinkingEffort }) },
    loopControl: { ...file.loopControl, ...variables.loopControl },
    background: { ...file.background, ...variables.background },
    subagent: { timeoutMs: variables.subagent.timeoutMs ?? file.subagent?.timeoutMs ?? DEFAULT_SUBAGENT_TIMEOUT_MS },
    swarm: variables.swarm,
    secondaryModel: secondaryModel && pool(secondaryModel),
    services: {
      ...(search && { search }),
      ...(fetch && { fetch }),
    },
    extraSkillDirs: file.extraSkillDirs ?? [],
    mergeAllAvailableSkills: file.mergeAllAvailableSkills ?? true,
    extraAgentDirs: file.extraAgentDirs ?? [],
    builtinProductSkills: variables.builtinProductSkills ?? file.builtinProductSkills ?? true,
    identity: { ...file.identity, ...variables.identity },
    image: { ...file.image, ...variables.image },
    mcp: { ...file.mcp, ...variables.mcp },
    tokenCounting: {
      strategy: variables.tokenCounting.strategy ?? file.tokenCounting?.strategy ?? ('measured+estimated' as const),
    },
    modelCatalog: set(file.modelCatalog, variables.modelCatalog),
    cron: {
      debug: false,
      noJitter: false,
      noStale: false,
      disabled: false,
      manualTick: false,
      ...file.cron,
      ...variables.cron,
    },
  };
}

/** Records in file order, then those in memory, the environment's last. */
function records<Item>(
  file: Record<string, Item> | undefined,
  memory: Record<string, Item> | undefined,
  environment: [id: string, record: Item] | undefined,
): Record<string, Item> {
  if (!memory && !environment) return file ?? {};
  const all = new Map([...Object.entries(file ?? {}), ...Object.entries(memory ?? {})]);
  if (environment) {
    all.delete(environment[0]);
    all.set(...environment);
  }
  return Object.fromEntries(all);
}

/** Converts the old `model` member to a pool of one, or to the forced model. */
function pool({ model, ...rest }: NonNullable<StoredConfig['secondaryModel']>) {
  if (model === undefined || rest.defaultModel !== undefined || rest.models !== undefined) return rest;
  return { ...rest, defaultModel: model, ...(rest.force ? {} : { models: { [model]: '' } }) };
}

/** An address from the environment must not receive credentials that are stored for another one. */
function service(entry: ServiceEntry | undefined, { baseUrl, apiKey }: ServiceVariables): ServiceEntry | undefined {
  if (baseUrl !== undefined) return { baseUrl, ...(apiKey !== undefined && { apiKey }) };
  if (apiKey === undefined) return entry;
  const { oauth: _, ...rest } = entry ?? {};
  return { ...rest, apiKey };
}

/** The record of a key; inherited properties such as `constructor` are no records. */
export function own<Item>(table: Record<string, Item> | undefined, key: string): Item | undefined {
  return table && Object.hasOwn(table, key) ? table[key] : undefined;
}
