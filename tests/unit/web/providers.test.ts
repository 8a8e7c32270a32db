/** The view of providers: search in the directory, summaries of providers, retired models and refreshes. */
import { describe, expect, it } from 'vitest';
import type { CatalogEntry } from '#schema/rest/catalog.ts';
import type { ProviderItem } from '#schema/rest/provider.ts';
import { createRest, type Model } from '@service-code/client';
import { createSearch, MOST_DRAWN, providerIdOf, rejectionOf } from '../../../web/features/providers/directory.ts';
import { t } from '../../../web/messages/messages.ts';
import { reportLines, retiringModels, shownProviders } from '../../../web/features/providers/models.ts';
import {
  importEntry,
  importRegistry,
  refreshModels,
  removeProvider,
} from '../../../web/features/providers/requests.ts';

const entry = (id: string, over: Partial<CatalogEntry> = {}): CatalogEntry => ({
  id,
  name: id,
  wire_type: 'openai',
  base_url: null,
  guessed: false,
  needs_base_url: false,
  rejected: false,
  reject_reason: null,
  env_key: null,
  models: [],
  ...over,
});
const catalogModel = (id: string, name?: string) => ({
  id,
  ...(name !== undefined && { name }),
  max_context_size: 1000,
  reasoning: false,
});
const model = (alias: string, over: Partial<Model> = {}): Model => ({
  provider: alias.split('/')[0] ?? '',
  model: alias,
  display_name: alias.split('/')[1] ?? alias,
  max_context_size: 1000,
  ...over,
});
const provider = (id: string, over: Partial<ProviderItem> = {}): ProviderItem => ({
  id,
  type: 'openai',
  has_api_key: true,
  status: 'connected',
  models: [],
  ...over,
});

describe('a search in the directory', () => {
  const entries = [
    entry('relay', { models: [catalogModel('acme-large', 'Acme Large'), catalogModel('small')] }),
    entry('acme', { name: 'Acme Labs', env_key: 'ACME_API_KEY', models: [catalogModel('large')] }),
    entry('other'),
  ];
  const found = (text: string) => createSearch(entries)(text).items.map(({ entry: { id }, models }) => [id, models]);

  it('lists all entries in their order without words', () => {
    expect(found(' ')).toEqual([
      ['relay', []],
      ['acme', []],
      ['other', []],
    ]);
  });

  it('finds words in id, name and key variable in any order, before those of models', () => {
    expect(found('LABS acme')).toEqual([['acme', []]]);
    expect(found('acme_api')).toEqual([['acme', []]]);
    expect(found('acme')).toEqual([
      ['acme', []],
      ['relay', ['Acme Large']],
    ]);
  });

  it('finds a model of a provider by words of both', () => {
    expect(found('acme large')).toEqual([
      ['relay', ['Acme Large']],
      ['acme', ['large']],
    ]);
    expect(found('other large')).toEqual([]);
  });

  it('names at most three models and draws a limited number of entries', () => {
    const models = ['a', 'b', 'c', 'd', 'e'].map((name) => catalogModel(`model-${name}`));
    expect(createSearch([entry('x', { models })])('model').items[0]?.models).toEqual([
      'model-a',
      'model-b',
      'model-c',
      '2 more',
    ]);
    const many = Array.from({ length: MOST_DRAWN + 3 }, (_, at) => entry(`p${at}`));
    const { items, more } = createSearch(many)('p');
    expect([items.length, more]).toEqual([MOST_DRAWN, 3]);
  });
});

it.each([
  [{ rejected: true, reject_reason: 'proprietary-sdk' }, 'library of its vendor'],
  [{ rejected: true, reject_reason: 'unknown-explicit-type' }, 'protocol'],
  [{}, 'no model'],
] as const)('an entry with %j cannot be added: %s', (over, reason) => {
  expect(rejectionOf(entry('x', over))).toContain(reason);
});

it('an entry with a model can be added', () => {
  expect(rejectionOf(entry('x', { models: [catalogModel('m')] }))).toBeUndefined();
});

it.each([
  ['acme', 'acme'],
  ['Acme Labs_2', 'Acme Labs_2'],
  ['acme/eu', 'acme-eu'],
  ['acme.ai', 'acme-ai'],
  ['@acme/x', 'acme-x'],
  ['模型', '模型'],
])('directory id %s is stored as %s', (id, stored) => {
  expect(providerIdOf(id)).toBe(stored);
});

it('displays providers with their state, and which of them can be removed', () => {
  const items = [
    provider('acme', { base_url: 'https://acme.test/v1', models: ['acme/a', 'acme/unlisted'] }),
    provider('keyless', { status: 'unconfigured' }),
    provider('managed:service-code', { type: 'native', status: 'unconfigured' }),
    provider('__service_env__'),
  ];
  const shown = shownProviders(items, { models: [model('acme/a')], managed: 'managed:service-code' });
  expect(
    shown.map(({ name, state, address, models, isRemovable }) => [name, state, address, models.length, isRemovable]),
  ).toEqual([
    ['acme', 'ready', 'openai · https://acme.test/v1', 1, true],
    ['keyless', 'no key', 'openai', 0, true],
    ['Service Code', 'logged out', 'native', 0, false],
    ['Environment (SERVICE_MODEL_…)', 'ready', 'openai', 0, false],
  ]);
});

it('lists retiring models by date, with a successor that may be unlisted', () => {
  const upgrade = (to: string, retirement_at?: string) => ({
    upgrade: { model: to, migration_markdown: 'Why', ...(retirement_at !== undefined && { retirement_at }) },
  });
  const models = [
    model('a/open', upgrade('gone')),
    model('a/late', upgrade('a/new', '2027-03-01T00:00:00Z')),
    model('a/soon', upgrade('a/new', '2027-01-15')),
    model('a/odd', upgrade('a/new', 'soon')),
    model('a/new', { display_name: 'New' }),
  ];
  expect(
    retiringModels(models, 'a/soon').map(({ alias, day, successorName, isListed, isDefault }) => [
      alias,
      day,
      successorName,
      isListed,
      isDefault,
    ]),
  ).toEqual([
    ['a/soon', '2027-01-15', 'New', true, true],
    ['a/late', '2027-03-01', 'New', true, false],
    ['a/open', undefined, 'gone', false, false],
    ['a/odd', undefined, 'New', true, false],
  ]);
});

it('reports a refresh in lines', () => {
  expect(
    reportLines({
      changed: [
        { provider_id: 'a', provider_name: 'A', added: 2, removed: 1 },
        { provider_id: 'b', provider_name: 'B', added: 0, removed: 0 },
      ],
      unchanged: ['c', 'd'],
      failed: [{ provider: 'e', reason: 'HTTP 500' }],
      retired_default: { from: 'a/x', to: 'a/y', from_display_name: 'X' },
    }),
  ).toEqual([
    { text: 'A: 2 models added, 1 removed', isFailure: false },
    { text: 'B: facts of models changed', isFailure: false },
    { text: 'X was retired; the default model is now a/y', isFailure: false },
    { text: 'e: HTTP 500', isFailure: true },
    { text: '2 providers unchanged', isFailure: false },
  ]);
  expect(reportLines({ changed: [], unchanged: [], failed: [] })).toEqual([
    { text: 'No providers to refresh', isFailure: false },
  ]);
  expect([t('providers.models', { count: 1 }), t('providers.models', { count: 0 })]).toEqual(['1 model', '0 models']);
});

it('sends actions of the collection to the server, although their path reads as a scheme', async () => {
  const sent: string[] = [];
  const rest = createRest({
    baseUrl: 'http://host.test/base/',
    token: () => undefined,
    fetch: async (url, init) => {
      sent.push(`${init?.method} ${String(url)}`);
      return init?.method === 'DELETE' ? new Response(null, { status: 204 }) : new Response('{"code":0,"data":{}}');
    },
  });
  await importEntry(rest, { catalog_id: 'x' });
  await importRegistry(rest, { url: 'https://x.test' });
  await refreshModels(rest);
  await refreshModels(rest, 'managed:service-code');
  expect(await removeProvider(rest, 'a b')).toBeNull();
  expect(sent).toEqual([
    'POST http://host.test/base/api/v1/providers:import_catalog',
    'POST http://host.test/base/api/v1/providers:import_registry',
    'POST http://host.test/base/api/v1/providers:refresh',
    'POST http://host.test/base/api/v1/providers/managed%3Aservice-code:refresh',
    'DELETE http://host.test/base/api/v1/providers/a%20b',
  ]);
});
