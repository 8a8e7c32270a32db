import type { ResolvedModel } from './types.ts';

const FALLBACK_TOKENS = 32_000;

/**
 * Returns the completion cap of a request in tokens when `used` tokens of the context are occupied; undefined: no cap
 * is sent. `variable` is `SERVICE_MODEL_MAX_COMPLETION_TOKENS`, where 0 or less disables the cap; `reserved` is
 * `loop_control.reserved_context_size`.
 */
export function completionBudget(
  model: ResolvedModel,
  used: number,
  { variable, reserved }: { variable?: number | undefined; reserved?: number | undefined },
): number | undefined {
  const forced = model.providerType === 'native' ? variable : undefined;
  if (forced !== undefined && forced <= 0) return undefined;
  const window = model.maxContextTokens || undefined;
  const cap = forced ?? model.maxOutputTokens ?? window ?? reserved ?? FALLBACK_TOKENS;
  // Google does not count the response against the context window.
  const shared = model.protocol !== 'google-genai';
  return Math.max(1, shared && window !== undefined ? Math.min(cap, window - used) : cap);
}

/** The model's input limit, else its context size; undefined when unknown. */
export function contextLimit(model: ResolvedModel): number | undefined {
  const limit = model.maxInputTokens || model.maxContextTokens;
  return limit > 0 ? limit : undefined;
}
