/** The parts of the configuration file that belong to a login: written by a login, removed by a logout. */
import { MANAGED_PROVIDER } from '#server/account/credential-slots.ts';
import type { LoginRecords } from '#server/account/login-records.ts';
import type { LoginAddresses } from '#server/account/addresses.ts';
import type { Config } from '#server/config/config.ts';
import { subTable, toTable } from '#server/config/document.ts';
import type { TomlTable } from '#server/config/document.ts';
import { ownerOf, recordsOf, replaceModels, setRecords, textMember } from './provider-tables.ts';

/** Creates the access to the configuration that logins and logouts need. */
export const createLoginRecords = (config: Pick<Config, 'update'>): LoginRecords => ({
  write: (login, { by, origin }) => config.update(({ document }) => writeLogin(document, login), by, origin),
  remove: (provider, key, { by, origin }) =>
    config.update(({ document }) => removeLogin(document, provider, key), by, origin),
});

/** Writes the managed provider's record. */
function writeLogin(document: TomlTable, { baseUrl, reference }: LoginAddresses): void {
  const { storage, key, oauthHost } = reference;
  const record = toTable({
    type: 'native',
    base_url: baseUrl,
    api_key: '',
    oauth: { storage, key, oauth_host: oauthHost },
  });
  const records = recordsOf(document, 'providers');
  const known = records.some(([id]) => id === MANAGED_PROVIDER);
  setRecords(
    document,
    'providers',
    known
      ? records.map((entry) => (entry[0] === MANAGED_PROVIDER ? [MANAGED_PROVIDER, record] : entry))
      : [...records, [MANAGED_PROVIDER, record]],
  );
}

/**
 * Removes a provider with a login, its aliases, the services that use the login, and defaults that name one of them.
 * A provider without a login is left unchanged.
 */
function removeLogin(document: TomlTable, provider: string, key: string): void {
  const record = subTable(subTable(document, 'providers') ?? {}, provider);
  const login = record && subTable(record, 'oauth');
  if (!login) return;
  const ended = new Set([key, textMember(login, 'key')]);
  setRecords(
    document,
    'providers',
    recordsOf(document, 'providers').filter(([id]) => id !== provider),
  );

  const models = recordsOf(document, 'models');
  const removed = new Set(models.flatMap(([alias, model]) => (ownerOf(model) === provider ? [alias] : [])));
  replaceModels(
    document,
    models.filter(([alias]) => !removed.has(alias)),
    new Map(),
  );
  if (removed.has(textMember(document, 'default_model')?.trim() ?? '')) {
    delete document.default_model;
    delete document.thinking;
  }
  if (textMember(document, 'default_provider') === provider) delete document.default_provider;

  const services = subTable(document, 'services');
  for (const name of ['search', 'fetch']) {
    const service = services && subTable(services, name);
    const used = service && textMember(subTable(service, 'oauth'), 'key');
    if (used !== undefined && ended.has(used)) delete services?.[name];
  }
}
