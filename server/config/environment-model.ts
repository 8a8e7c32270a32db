/** The model that `SERVICE_MODEL_*` defines, and the settings of these variables for any model. */
import type { ModelRecord } from '#schema/rest/model.ts';
import type { ProviderRecord } from '#schema/config/provider-record.ts';
import { envBoolean, envText } from '#server/env.ts';

export const ENV_PROVIDER = '__service_env__';
export const ENV_MODEL = '__service_env_model__';

const DEFAULT_CONTEXT_TOKENS = 262_144;

export interface ModelVariables {
  /** Present while `SERVICE_MODEL_NAME` is set. */
  defined?: { provider: ProviderRecord; model: ModelRecord };
  /** Used by the `native` protocol only, like `maxCompletionTokens`. */
  temperature?: number;
  topP?: number;
  thinkingEffort?: string;
  thinkingKeep?: string;
  /** Limit of an answer; not validated: with 0 or less, no limit is sent. */
  maxCompletionTokens?: number;
  /** A malformed variable disables the whole overlay. */
  problems: { message: string }[];
}

/** Reads the overlay; blank variables are treated as not set. */
export function readModelVariables(env: NodeJS.ProcessEnv): ModelVariables {
  const problems: { message: string }[] = [];
  const read = <T>(name: string, expected: string, parse: (text: string) => T | undefined): T | undefined => {
    const text = envText(env, name);
    if (text === undefined) return undefined;
    const value = parse(text);
    if (value === undefined) {
      problems.push({ message: `${name} must be ${expected}; the SERVICE_MODEL_* variables are ignored` });
    }
    return value;
  };
  const positive = (text: string) => (/^\d+$/.test(text) && Number(text) > 0 ? Number(text) : undefined);
  const finite = (text: string) => (Number.isFinite(Number(text)) ? Number(text) : undefined);

  const contextSize = read('SERVICE_MODEL_MAX_CONTEXT_SIZE', 'a positive integer', positive);
  const outputSize = read('SERVICE_MODEL_MAX_OUTPUT_SIZE', 'a positive integer', positive);
  const adaptive = read('SERVICE_MODEL_ADAPTIVE_THINKING', 'a boolean', () =>
    envBoolean(env, 'SERVICE_MODEL_ADAPTIVE_THINKING'),
  );
  const temperature = read('SERVICE_MODEL_TEMPERATURE', 'a number', finite);
  const topP = read('SERVICE_MODEL_TOP_P', 'a number', finite);
  if (problems.length > 0) return { problems };

  const effort = envText(env, 'SERVICE_MODEL_THINKING_EFFORT');
  const keep = envText(env, 'SERVICE_MODEL_THINKING_KEEP');
  const cap = envText(env, 'SERVICE_MODEL_MAX_COMPLETION_TOKENS') ?? envText(env, 'SERVICE_MODEL_MAX_TOKENS');
  const settings = {
    problems,
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { topP }),
    ...(effort !== undefined && { thinkingEffort: effort }),
    ...(keep !== undefined && { thinkingKeep: keep }),
    ...(cap !== undefined && /^-?\d+$/.test(cap) && { maxCompletionTokens: Number(cap) }),
  };
  const name = envText(env, 'SERVICE_MODEL_NAME');
  if (name === undefined) return settings;

  const listed = (envText(env, 'SERVICE_MODEL_CAPABILITIES') ?? '')
    .split(',')
    .flatMap((word) => word.trim().toLowerCase() || []);
  const apiKey = envText(env, 'SERVICE_MODEL_API_KEY');
  const baseUrl = envText(env, 'SERVICE_MODEL_BASE_URL');
  const displayName = envText(env, 'SERVICE_MODEL_DISPLAY_NAME');
  const reasoningKey = envText(env, 'SERVICE_MODEL_REASONING_KEY');
  return {
    ...settings,
    defined: {
      provider: {
        type: envText(env, 'SERVICE_MODEL_PROVIDER_TYPE') ?? 'native',
        ...(apiKey !== undefined && { apiKey }),
        ...(baseUrl !== undefined && { baseUrl }),
        defaultModel: ENV_MODEL,
      },
      model: {
        provider: ENV_PROVIDER,
        model: name,
        maxContextSize: contextSize ?? DEFAULT_CONTEXT_TOKENS,
        ...(outputSize !== undefined && { maxOutputSize: outputSize }),
        capabilities: listed.length > 0 ? listed : ['image_in', 'thinking'],
        ...(displayName !== undefined && { displayName }),
        ...(reasoningKey !== undefined && { reasoningKey }),
        ...(adaptive !== undefined && { adaptiveThinking: adaptive }),
      },
    },
  };
}
