/** `GET /config`: converts the effective configuration to its wire form. */
import { configSchema } from '#schema/config/config.ts';
import type { ConfigObject } from '#schema/config/config.ts';
import type { ProviderRecord } from '#schema/config/provider-record.ts';
import type { TomlTable } from './document.ts';
import type { EffectiveConfig } from './effective.ts';
import { maskDomain, maskRaw } from './mask.ts';

export function publicConfig(effective: EffectiveConfig, document: TomlTable): ConfigObject {
  const mode = effective.defaultPermissionMode;
  const wire = {
    ...masked({
      models: effective.models,
      default_provider: effective.defaultProvider,
      default_model: effective.defaultModel,
      thinking: effective.thinking,
      default_permission_mode: mode,
      yolo: mode && mode === 'yolo',
      default_plan_mode: effective.defaultPlanMode,
      plan_mode: effective.planMode,
      permission: effective.permission?.rules && effective.permission,
      hooks: effective.hooks,
      services: effective.services,
      merge_all_available_skills: effective.mergeAllAvailableSkills,
      extra_skill_dirs: effective.extraSkillDirs,
      loop_control: effective.loopControl,
      background: effective.background,
      subagent: effective.subagent,
      secondary_model: effective.secondaryModel,
      experimental: effective.experimental,
      telemetry: effective.telemetry,
      auto_session_title: effective.autoSessionTitle,
      builtin_product_skills: effective.builtinProductSkills,
      extra_agent_dirs: effective.extraAgentDirs,
      identity: effective.identity,
      image: effective.image,
      mcp: effective.mcp,
      tools: effective.tools,
      token_counting: effective.tokenCounting,
      model_catalog: effective.modelCatalog,
      cron: effective.cron,
    }),
    providers: Object.fromEntries(Object.entries(effective.providers).map(([id, record]) => [id, provider(record)])),
    raw: maskRaw(document),
  };
  return configSchema.parse(wire);
}

const masked = (members: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([key, value]) => (value === undefined ? [] : [[key, maskDomain(value)]])),
  );

function provider(record: ProviderRecord): ConfigObject['providers'][string] {
  const baseUrl = record.baseUrl?.trim();
  const defaultModel = record.defaultModel?.trim();
  return {
    type: record.type ?? '',
    ...(baseUrl && { base_url: baseUrl }),
    ...(defaultModel && { default_model: defaultModel }),
    has_api_key: Boolean(record.apiKey?.trim()) || record.oauth !== undefined,
  };
}
