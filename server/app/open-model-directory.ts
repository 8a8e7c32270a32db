/** The public directory of models, and imports from it; their modules are imported at the first use. */
import type { Account } from '#server/account/account.ts';
import { lazyService } from '#server/async/lazy.ts';
import type { Logger } from '#server/logging/log.ts';
import type { ModelDirectory } from '#server/model-catalog/directory.ts';
import type { Providers } from '#server/models/providers/providers.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { ImportCatalog, ImportedProvider } from '#schema/rest/catalog.ts';
import type { Disposers } from './disposers.ts';
import type { Home } from './open-home.ts';
import type { AppOptions } from './options.ts';

export interface OpenedModelDirectory extends Pick<ModelDirectory, 'list' | 'get'> {
  /** Imports a provider, like `importCatalog`. */
  import(form: ImportCatalog, by: Caller): Promise<ImportedProvider>;
}

export interface OpenModelDirectoryDeps {
  options: AppOptions;
  home: Home;
  account: Account;
  providers: Providers;
  fetch: Fetch;
  log: Logger;
}

/** Creates the service; nothing is imported or requested. */
export function openModelDirectory(deps: OpenModelDirectoryDeps, opened: Disposers): OpenedModelDirectory {
  const { options, home, account, providers, fetch, log } = deps;
  const { clock, network, modelSnapshot } = options;
  const { config, identity } = home;
  const service = lazyService(async () => {
    const [{ createModelDirectory }, { parseDirectory }, { downloadDirectory }, { readSnapshot }] = await Promise.all([
      import('#server/model-catalog/directory.ts'),
      import('#server/model-catalog/parse-directory.ts'),
      import('#server/model-catalog/directory-download.ts'),
      import('#server/model-catalog/snapshot.ts'),
    ]);
    return createModelDirectory({
      async url() {
        const { modelDirectoryUrl } = await account.addresses();
        return modelDirectoryUrl;
      },
      download(url, signal) {
        account.noteUse(url);
        const userAgent = identity.userAgent(config.effective().identity);
        return downloadDirectory(url, { userAgent, signal }, { fetch, network });
      },
      parse: parseDirectory,
      snapshot: modelSnapshot ?? readSnapshot,
      clock,
      log,
    });
  });
  opened.add(service);
  return {
    list: async () => (await service.load()).list(),
    get: async (id) => (await service.load()).get(id),
    async import(form, by) {
      const { importCatalog } = await import('#server/model-catalog/import-catalog.ts');
      return importCatalog(form, by, { directory: await service.load(), config, providers });
    },
  };
}
