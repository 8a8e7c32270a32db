/** Models as the engine uses them: one place that knows configuration, environment and identity (engine.md §18). */
import type { Config } from '../config/config.ts';
import { ServiceError } from '../errors.ts';
import { completionBudget } from './budget.ts';
import type { Identity } from './identity.ts';
import type { Providers } from './providers.ts';
import { checkReady, resolveModel } from './resolve.ts';
import { assertEffort, requestSettings, resolveEffort } from './thinking.ts';
import type { RequestSettings, ResolvedModel } from './types.ts';

export interface Models {
  /** Alias of new agents; undefined when none is configured. */
  defaultModel(): string | undefined;
  /** Throws 40001 with the reason when the alias cannot be used. */
  resolve(alias: string): ResolvedModel;
  /** Why no prompt to this alias (or the default model) can succeed: 40110, 40111 or 40113. */
  checkReady(alias: string | undefined): Promise<ServiceError | undefined>;
  /** Effort that a wish (or none) becomes on this model. */
  effort(model: ResolvedModel, wanted: string | undefined): string;
  /** Throws 40001 on `field` (`thinking` unless given) when the model does not offer the effort; unknown aliases pass. */
  assertEffort(alias: string, effort: string, field?: string): void;
  settings(model: ResolvedModel, effort: string): RequestSettings;
  /** Completion cap in tokens when `used` are taken; undefined sends none. */
  budget(model: ResolvedModel, used: number): number | undefined;
}

export interface ModelsDeps {
  config: Config;
  env: () => NodeJS.ProcessEnv;
  identity: Identity;
  providers: Pick<Providers, 'hasToken'>;
}

export function createModels({ config, env, identity, providers }: ModelsDeps): Models {
  const resolve = (alias: string) => resolveModel(alias, { config: config.effective(), env: env(), identity });
  const thinking = () => config.effective().thinking;
  return {
    defaultModel: () => config.effective().defaultModel?.trim() || undefined,
    resolve,
    async checkReady(alias) {
      await config.reload();
      return checkReady(alias, config.effective(), providers.hasToken);
    },
    effort: (model, wanted) => resolveEffort(model, wanted, thinking()),
    assertEffort(alias, effort, field) {
      let model: ResolvedModel;
      try {
        model = resolve(alias);
      } catch (error) {
        // Readiness is what reports an alias that cannot be used.
        if (error instanceof ServiceError) return;
        throw error;
      }
      assertEffort(model, effort, field);
    },
    settings: (model, effort) => requestSettings(model, effort, thinking(), config.modelVariables()),
    budget: (model, used) =>
      completionBudget(model, used, {
        variable: config.modelVariables().maxCompletionTokens,
        reserved: config.effective().loopControl.reservedContextSize,
      }),
  };
}
