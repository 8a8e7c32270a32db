/** Validation of model names and efforts in client requests, before any change. */
import type { Account } from '#server/account/account.ts';
import type { Config } from '#server/config/config.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { Identity } from '#server/account/identity.ts';
import { checkReady, findModel, resolveModel } from './resolve.ts';
import { subagentPool } from './subagent-pool.ts';
import { assertEffort } from './thinking.ts';

export interface ModelChecks {
  /** Throws an error of `checkReady` when no request to this alias, or to the default model, can succeed. */
  assertReady(alias: string | undefined): Promise<void>;
  /** Throws `validation.failed` when the alias is not in the model table. */
  assertConfigured(alias: string): void;
  /** Throws `validation.failed` on `field` when the model does not offer the effort. */
  assertEffort(alias: string, effort: string, field?: string): void;
  /** Throws `validation.failed` when the models configured for subagents cannot be used. */
  assertSubagentPool(): Promise<void>;
  /** Alias for agents without a model. */
  defaultModel(): string | undefined;
}

/** Creates the checks; each call reads the current configuration. */
export function createModelChecks(deps: {
  config: Config;
  account: Pick<Account, 'readiness'>;
  env: () => NodeJS.ProcessEnv;
  identity: Identity;
}): ModelChecks {
  const { config, account, env, identity } = deps;
  return {
    async assertReady(alias) {
      await config.reload();
      const problem = await checkReady(alias, config.effective(), account.readiness);
      if (problem) throw problem;
    },
    assertConfigured(alias) {
      if (!findModel(config.effective(), alias)) {
        throw new ServiceError('validation.failed', `Model "${alias}" is not configured in config.toml.`);
      }
    },
    assertEffort(alias, effort, field) {
      assertEffort(resolveModel(alias, { config: config.effective(), env: env(), identity }), effort, field);
    },
    async assertSubagentPool() {
      await config.reload();
      subagentPool(config);
    },
    defaultModel: () => config.effective().defaultModel || undefined,
  };
}
