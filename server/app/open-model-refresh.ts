/** Refreshes of models and imports of registries; their modules are imported with the first one. */
import { lazyService } from '#server/async/lazy.ts';
import type { Account } from '#server/account/account.ts';
import type { Logger } from '#server/logging/log.ts';
import type { ModelRefresh } from '#server/model-catalog/model-refresh.ts';
import { createRefreshSchedule } from '#server/model-catalog/refresh-schedule.ts';
import { sourceOf } from '#server/model-catalog/sources.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { Disposers } from './disposers.ts';
import type { Home } from './open-home.ts';
import type { AppOptions } from './options.ts';

export interface OpenedModelRefresh extends Pick<ModelRefresh, 'refresh' | 'import'> {
  /** Starts the scheduled refreshes. */
  startSchedule(): void;
}

export interface OpenModelRefreshDeps {
  options: AppOptions;
  home: Home;
  serverId: string;
  account: Account;
  fetch: Fetch;
  log: Logger;
}

/** Creates the service; nothing is imported or requested. */
export function openModelRefresh(deps: OpenModelRefreshDeps, opened: Disposers): OpenedModelRefresh {
  const { options, home, serverId, account, fetch, log } = deps;
  const { clock, env, network } = options;
  const { config, documents, identity, instance, globalStream } = home;
  const service = lazyService(async () => {
    const { createModelRefresh } = await import('#server/model-catalog/model-refresh.ts');
    return createModelRefresh({
      account,
      config,
      identity,
      env,
      fetch,
      network,
      clock,
      publish: (report) => globalStream.publish('event.model_catalog.changed', report),
      log,
    });
  });
  const schedule = createRefreshSchedule({
    home: options.home,
    serverId,
    holder: instance.holder,
    documents,
    config,
    async hasSources() {
      const { baseUrl } = await account.loginAddresses();
      const providers = Object.entries(config.stored().providers ?? {});
      return providers.some(([id, record]) => sourceOf(id, record, baseUrl).kind !== 'static');
    },
    refresh: async () => (await service.load()).refresh('all'),
    clock,
    log,
  });
  opened.add({
    async close() {
      schedule.stop();
      await service.close();
      await schedule.settled();
    },
  });
  return {
    refresh: async (scope, by) => (await service.load()).refresh(scope, by),
    import: async (form, by) => (await service.load()).import(form, by),
    startSchedule: schedule.start,
  };
}
