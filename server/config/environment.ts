/**
 * Configuration from environment variables, by domain. Read at each use. An invalid value is ignored, so that the
 * file's value applies.
 */
import { envBoolean, envInteger, envText } from '#server/env.ts';
import { domainSchemas } from '#schema/config/config.ts';

type Env = NodeJS.ProcessEnv;

const onlyOne = (env: Env, name: string) => (envText(env, name) === '1' ? true : undefined);

function cronInterval(env: Env): number | null | undefined {
  const name = 'SERVICE_CRON_POLL_INTERVAL_MS';
  return envText(env, name) === 'null' ? null : envInteger(env, name);
}

export const SWARM_CONCURRENCY_VARIABLE = 'SERVICE_CODE_AGENT_SWARM_MAX_CONCURRENCY';

/** Deprecated variables that are set, with their replacements. */
export function deprecatedVariables(env: Env): { domain: string; message: string }[] {
  if (envInteger(env, 'SERVICE_LOOP_MAX_RETRIES_PER_STEP') === undefined) return [];
  const message = 'SERVICE_LOOP_MAX_RETRIES_PER_STEP is deprecated; use SERVICE_LOOP_MAX_ATTEMPTS_PER_STEP';
  return [{ domain: 'loopControl', message }];
}

/** Members set by variables, by domain; `services` and `SERVICE_MODEL_*` have separate functions. */
export function readEnvironment(env: Env) {
  return {
    loopControl: valid(domainSchemas.loopControl, {
      maxStepsPerTurn: envInteger(env, 'SERVICE_LOOP_MAX_STEPS_PER_TURN'),
      maxAttemptsPerStep:
        envInteger(env, 'SERVICE_LOOP_MAX_ATTEMPTS_PER_STEP') ?? envInteger(env, 'SERVICE_LOOP_MAX_RETRIES_PER_STEP'),
    }),
    background: valid(domainSchemas.background, {
      maxRunningTasks: envInteger(env, 'SERVICE_CODE_BACKGROUND_MAX_RUNNING_TASKS'),
      keepAliveOnExit: envBoolean(env, 'SERVICE_CODE_BACKGROUND_KEEP_ALIVE_ON_EXIT'),
    }),
    subagent: valid(domainSchemas.subagent, {
      // 0 is allowed in the file only.
      timeoutMs: envInteger(env, 'SERVICE_SUBAGENT_TIMEOUT_MS') || undefined,
    }),
    /** Verbatim: swarms check it when they run, so that a wrong value is reported instead of ignored. */
    swarm: { maxConcurrency: envText(env, SWARM_CONCURRENCY_VARIABLE) },
    builtinProductSkills: envBoolean(env, 'SERVICE_CODE_BUILTIN_PRODUCT_SKILLS'),
    identity: valid(domainSchemas.identity, {
      name: envText(env, 'SERVICE_CODE_IDENTITY_NAME'),
      slug: envText(env, 'SERVICE_CODE_IDENTITY_SLUG'),
    }),
    image: valid(domainSchemas.image, {
      maxEdgePx: envInteger(env, 'SERVICE_IMAGE_MAX_EDGE_PX'),
      readByteBudget: envInteger(env, 'SERVICE_IMAGE_READ_BYTE_BUDGET'),
    }),
    mcp: valid(domainSchemas.mcp, {
      startupTimeoutMs: envInteger(env, 'SERVICE_MCP_STARTUP_TIMEOUT_MS'),
      toolTimeoutMs: envInteger(env, 'SERVICE_MCP_TOOL_TIMEOUT_MS'),
    }),
    tokenCounting: valid(domainSchemas.tokenCounting, { strategy: envText(env, 'SERVICE_TOKEN_COUNTING_STRATEGY') }),
    modelCatalog: valid(domainSchemas.modelCatalog, {
      refreshIntervalMs: envInteger(env, 'SERVICE_CODE_MODEL_CATALOG_REFRESH_INTERVAL_MS'),
      refreshOnStart: envBoolean(env, 'SERVICE_CODE_MODEL_CATALOG_REFRESH_ON_START'),
    }),
    cron: valid(domainSchemas.cron, {
      debug: onlyOne(env, 'SERVICE_CRON_DEBUG'),
      noJitter: onlyOne(env, 'SERVICE_CRON_NO_JITTER'),
      noStale: onlyOne(env, 'SERVICE_CRON_NO_STALE'),
      disabled: onlyOne(env, 'SERVICE_DISABLE_CRON'),
      manualTick: onlyOne(env, 'SERVICE_CRON_MANUAL_TICK'),
      clock: envText(env, 'SERVICE_CRON_CLOCK'),
      pollIntervalMs: cronInterval(env),
    }),
  };
}

interface Parser<Value> {
  safeParse(value: unknown): { success: true; data: Value } | { success: false };
}

/** The members that are set and valid by the file's schema. */
function valid<Value extends object>(schema: Parser<Value>, members: Record<string, unknown>): Partial<Value> {
  const accepted: Partial<Value> = {};
  for (const [key, value] of Object.entries(members)) {
    if (value === undefined) continue;
    const parsed = schema.safeParse({ [key]: value });
    if (parsed.success) Object.assign(accepted, parsed.data);
  }
  return accepted;
}

/** Variables of one web service. */
export interface ServiceVariables {
  baseUrl: string | undefined;
  apiKey: string | undefined;
}

export function readServices(env: Env): { search: ServiceVariables; fetch: ServiceVariables } {
  const read = (name: 'SEARCH' | 'FETCH') => ({
    baseUrl: envText(env, `SERVICE_WEB_${name}_BASE_URL`),
    apiKey: envText(env, `SERVICE_WEB_${name}_API_KEY`),
  });
  return { search: read('SEARCH'), fetch: read('FETCH') };
}
