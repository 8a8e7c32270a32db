/** The models that subagents run on instead of their caller's: `[secondary_model]`, enabled by its feature flag. */
import type { ConfigReader } from '#server/config/config.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { assertResolvable } from './resolve.ts';

/** Alias of the caller's model; reserved, so no entry of the pool may use it. */
export const CALLERS_MODEL = 'primary';

export interface SubagentPool {
  /** Alias for subagents without an explicit model. */
  readonly defaultModel: string;
  /** The user's hints by alias, the default first; undefined where the default is forced. */
  readonly choices?: ReadonlyMap<string, string>;
}

const invalid = (why: string) => new ServiceError('validation.failed', `secondary_model: ${why}`);

/** Returns the current pool, undefined without one. Throws `validation.failed` with the violated rule. */
export function subagentPool(config: ConfigReader): SubagentPool | undefined {
  if (!config.resolveFlags()['secondary-model']) return undefined;
  const effective = config.effective();
  const { defaultModel, models, force = false } = effective.secondaryModel ?? {};
  const listed = Object.entries(models ?? {});
  if (force && listed.length > 0) throw invalid('force leaves no choice, so it goes with default_model alone');
  if (defaultModel === undefined) {
    if (force || listed.length > 0) throw invalid('default_model is missing');
    return undefined;
  }
  // A default without a list is a pool of one.
  const choices = new Map([[defaultModel, ''], ...listed]);
  if (listed.length > 0 && !listed.some(([alias]) => alias === defaultModel))
    throw invalid(`default_model ${defaultModel} is not among models`);
  for (const alias of choices.keys()) {
    if (alias === CALLERS_MODEL) throw invalid(`${CALLERS_MODEL} stands for the caller's model and names no other`);
    try {
      assertResolvable(effective, alias);
    } catch (error) {
      if (error instanceof ServiceError) throw invalid(error.message);
      throw error;
    }
  }
  return force ? { defaultModel } : { defaultModel, choices };
}
