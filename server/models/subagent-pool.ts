/** The models that subagents run on in place of their caller's: `[secondary_model]`, behind its flag. */
import type { Config } from '#server/config/config.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { assertResolvable } from './resolve.ts';

/** Stands for the caller's own model, so no entry of the pool may have the name. */
export const CALLERS_MODEL = 'primary';

export interface SubagentPool {
  /** Alias of a subagent for which nothing else is asked. */
  readonly defaultModel: string;
  /** By alias, the default first, what the user says of it; absent where the default is forced: there is no choice. */
  readonly choices?: ReadonlyMap<string, string>;
}

const invalid = (why: string) => new ServiceError('validation.failed', `secondary_model: ${why}`);

/** The pool there is now; undefined without one. Throws 40001 with the rule that the section breaks. */
export function subagentPool(config: Pick<Config, 'effective' | 'resolveFlags'>): SubagentPool | undefined {
  if (!config.resolveFlags()['secondary-model']) return undefined;
  const effective = config.effective();
  const { defaultModel, models, force = false } = effective.secondaryModel ?? {};
  const listed = Object.entries(models ?? {});
  if (force && listed.length > 0) throw invalid('force leaves no choice, so it goes with default_model alone');
  if (defaultModel === undefined) {
    if (force || listed.length > 0) throw invalid('default_model is missing');
    return undefined;
  }
  // A default by itself is a pool of one.
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
