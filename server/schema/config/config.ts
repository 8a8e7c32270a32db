/** The configuration on the wire: the schemas of its domains and of the config object. */
import * as z from 'zod';
import { modelRecordSchema, oauthRefSchema } from '../rest/model.ts';
import { providerRecordSchema } from './provider-record.ts';
import { count, permissionModeSchema } from '../scalars.ts';

const atLeastOne = z.int().min(1);
/** Maximum delay of a platform timer, in milliseconds. */
const timerMs = z.int().min(1).max(2_147_483_647);

export const permissionRuleConfigSchema = z.object({
  decision: z.enum(['allow', 'deny', 'ask']),
  scope: z.enum(['turn-override', 'session-runtime', 'project', 'user']).default('user'),
  pattern: z.string().min(1),
  reason: z.string().optional(),
});

export type PermissionRuleConfig = z.infer<typeof permissionRuleConfigSchema>;

export const hookEvents = [
  'PreToolUse',
  'PostToolUse',
  'PostToolUseFailure',
  'PermissionRequest',
  'PermissionResult',
  'UserPromptSubmit',
  'UserPromptQueued',
  'TurnStarted',
  'Stop',
  'StopFailure',
  'Interrupt',
  'SessionStart',
  'SessionEnd',
  'SessionHeartbeat',
  'SubagentStart',
  'SubagentStop',
  'TaskStarted',
  'PreCompact',
  'PostCompact',
  'Notification',
] as const;
export type HookEvent = (typeof hookEvents)[number];

export const hookSchema = z.strictObject({
  event: z.enum(hookEvents),
  matcher: z.string().optional(),
  command: z.string().min(1),
  timeout: z.number().min(1).max(600).optional(),
});
export type HookConfig = z.infer<typeof hookSchema>;

const serviceSchema = z.object({
  baseUrl: z.string().optional(),
  apiKey: z.string().optional(),
  oauth: oauthRefSchema.optional(),
  customHeaders: z.record(z.string(), z.string()).optional(),
});
export type ServiceEntry = z.infer<typeof serviceSchema>;

/** One schema per section of the configuration file, keyed by domain name. */
export const domainSchemas = {
  defaultModel: z.string(),
  defaultProvider: z.string(),
  defaultPermissionMode: permissionModeSchema,
  defaultPlanMode: z.boolean(),
  planMode: z.boolean(),
  yolo: z.boolean(),
  providers: z.record(z.string(), providerRecordSchema),
  models: z.record(z.string(), modelRecordSchema),
  thinking: z.object({
    enabled: z.boolean().optional(),
    effort: z.string().optional(),
    forcedEffort: z.string().optional(),
    keep: z.string().optional(),
  }),
  loopControl: z.object({
    maxStepsPerTurn: count.optional(),
    maxAttemptsPerStep: count.optional(),
    maxRalphIterations: z.int().min(-1).optional(),
    reservedContextSize: count.optional(),
    compactionTriggerRatio: z.number().min(0.5).max(0.99).optional(),
  }),
  background: z.object({
    maxRunningTasks: atLeastOne.optional(),
    keepAliveOnExit: z.boolean().optional(),
    bashAutoBackgroundOnTimeout: z.boolean().optional(),
    bashTaskTimeoutS: count.optional(),
    killGracePeriodMs: count.optional(),
    printWaitCeilingS: atLeastOne.optional(),
    printMaxTurns: atLeastOne.optional(),
    printBackgroundMode: z.enum(['exit', 'drain', 'steer']).optional(),
  }),
  subagent: z.object({ timeoutMs: count.optional() }),
  secondaryModel: z.object({
    defaultModel: z.string().min(1).optional(),
    models: z.record(z.string(), z.string()).optional(),
    force: z.boolean().optional(),
    /** The only former member that still has an effect; older files contain more. */
    model: z.string().optional(),
  }),
  permission: z.object({ rules: z.array(permissionRuleConfigSchema).optional() }),
  hooks: z.array(hookSchema),
  services: z.object({ search: serviceSchema.optional(), fetch: serviceSchema.optional() }),
  extraSkillDirs: z.array(z.string()),
  mergeAllAvailableSkills: z.boolean(),
  experimental: z.record(z.string(), z.boolean()),
  telemetry: z.boolean(),
  autoSessionTitle: z.boolean(),
  extraAgentDirs: z.array(z.string()),
  builtinProductSkills: z.boolean(),
  identity: z.object({ name: z.string().optional(), slug: z.string().optional() }),
  image: z.object({ maxEdgePx: atLeastOne.optional(), readByteBudget: atLeastOne.optional() }),
  mcp: z.object({ startupTimeoutMs: timerMs.optional(), toolTimeoutMs: timerMs.optional() }),
  tools: z.object({ enabled: z.array(z.string()).optional(), disabled: z.array(z.string()).optional() }),
  tokenCounting: z.object({ strategy: z.enum(['measured+estimated', 'measured', 'estimated']).optional() }),
  modelCatalog: z.object({ refreshIntervalMs: count.optional(), refreshOnStart: z.boolean().optional() }),
  cron: z.object({
    debug: z.boolean().optional(),
    noJitter: z.boolean().optional(),
    noStale: z.boolean().optional(),
    disabled: z.boolean().optional(),
    manualTick: z.boolean().optional(),
    clock: z.string().optional(),
    pollIntervalMs: count.nullable().optional(),
  }),
  /** Addresses of the cloud services; not an API domain, the API returns it only in `raw`. */
  cloud: z.record(z.string(), z.unknown()),
};

const d = domainSchemas;

/** Reply of `GET /config`: top-level keys in snake case, members inside a domain in camel case, secrets masked. */
export const configSchema = z
  .looseObject({
    providers: z.record(
      z.string(),
      z.object({
        type: z.string(),
        base_url: z.string().optional(),
        default_model: z.string().optional(),
        has_api_key: z.boolean(),
      }),
    ),
    models: d.models,
    default_provider: d.defaultProvider.optional(),
    default_model: d.defaultModel.optional(),
    thinking: d.thinking,
    default_permission_mode: d.defaultPermissionMode.optional(),
    yolo: z.boolean().optional(),
    default_plan_mode: z.boolean(),
    plan_mode: z.boolean().optional(),
    permission: d.permission.optional(),
    hooks: d.hooks.optional(),
    services: d.services,
    merge_all_available_skills: z.boolean(),
    extra_skill_dirs: d.extraSkillDirs,
    loop_control: d.loopControl,
    background: d.background,
    subagent: z.object({ timeoutMs: count }),
    secondary_model: d.secondaryModel.omit({ model: true }).optional(),
    experimental: d.experimental.optional(),
    telemetry: z.boolean().optional(),
    auto_session_title: z.boolean().optional(),
    raw: z.record(z.string(), z.unknown()),
    builtin_product_skills: z.boolean(),
    extra_agent_dirs: d.extraAgentDirs,
    identity: d.identity,
    image: d.image,
    mcp: d.mcp,
    tools: d.tools.optional(),
    token_counting: d.tokenCounting.required(),
    model_catalog: d.modelCatalog.optional(),
    cron: d.cron,
  })
  .meta({ id: 'Config' });
export type ConfigObject = z.infer<typeof configSchema>;
