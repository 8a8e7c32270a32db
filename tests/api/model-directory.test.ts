import { expect, it } from 'vitest';
import * as z from 'zod';
import {
  directoryDuringTest,
  directoryEntry,
  directoryModel,
  documentAnswer,
  snapshotOf,
  statusAnswer,
  type TestDirectory,
} from '#support/model-directory.ts';
import { refreshHome } from '#support/refresh-home.ts';
import type { TestServer, TestServerOptions } from '#support/server.ts';

const catalog = {
  acme: directoryEntry(['large', 'vendor/small'], { name: 'Acme', env: ['ACME_KEY'] }),
  'a/b': directoryEntry(['m']),
  'no.id': directoryEntry(['m']),
  rejected: directoryEntry(['m'], { npm: '@ai-sdk/cohere' }),
  unknown: directoryEntry(['m'], { type: 'grpc' }),
  empty: directoryEntry([]),
  nowhere: directoryEntry(['m'], { api: undefined }),
  claude: directoryEntry(['c'], { npm: '@ai-sdk/anthropic', api: undefined }),
};

async function start(config = '', options: TestServerOptions = {}) {
  const home = await refreshHome(config);
  const directory = await directoryDuringTest(documentAnswer(catalog));
  const server = await home.start({ env: () => ({ SERVICE_CODE_MODEL_DIRECTORY_URL: directory.url }), ...options });
  return { ...home, ...server, directory, imported: importing(server) };
}

const importing =
  ({ api }: Pick<TestServer, 'api'>) =>
  async (body: unknown) => {
    const { code, data, msg, status } = await api('POST', '/providers:import_catalog', body);
    return code === 0 ? { status, data } : { code, msg };
  };

const failsWith = (code: number, msg: string) => ({ code, msg });

it('lists all entries and one, in the order of the document', async () => {
  const { api, directory } = await start();
  const { data } = await api('GET', '/catalog/providers');
  const { items } = z.object({ items: z.array(z.looseObject({ id: z.string() })) }).parse(data);
  expect(items.map(({ id }) => id)).toEqual(Object.keys(catalog));
  expect(items[0]).toEqual({
    id: 'acme',
    name: 'Acme',
    wire_type: 'openai',
    base_url: 'https://a.example/v1',
    guessed: false,
    needs_base_url: false,
    rejected: false,
    reject_reason: null,
    env_key: 'ACME_KEY',
    models: [
      { id: 'large', max_context_size: 1000, capabilities: ['tool_use'], reasoning: false },
      { id: 'vendor/small', max_context_size: 1000, capabilities: ['tool_use'], reasoning: false },
    ],
  });
  expect((await api('GET', '/catalog/providers/acme')).data).toEqual(items[0]);
  expect((await api('GET', '/catalog/providers/a%2Fb')).data).toMatchObject({ id: 'a/b', wire_type: 'openai' });
  expect(directory.requests).toHaveLength(1);
  expect(directory.requests[0]?.headers['user-agent']).toMatch(/^service-code\/\d/);
  const names = Object.keys(directory.requests[0]?.headers ?? {});
  expect(names.toSorted()).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
});

it.each(['__proto__', 'constructor', 'missing'])('has no entry %s', async (id) => {
  const { api } = await start();
  expect(await api('GET', `/catalog/providers/${id}`)).toMatchObject({
    code: 40417,
    msg: `catalog entry ${id} does not exist`,
    data: null,
  });
});

it('requests the directory only for its own endpoints', async () => {
  const { api, directory } = await start();
  for (const path of ['/providers', '/models', '/config', '/auth', '/meta']) await api('GET', path);
  await api('POST', '/providers:import_catalog', {});
  expect(directory.requests).toHaveLength(0);
});

it('lists the snapshot without a directory, and fails without both', async () => {
  const snapshot = { acme: directoryEntry(['old']) };
  const { api, directory } = await start('', { modelSnapshot: snapshotOf(snapshot) });
  directory.answer = statusAnswer(500);
  expect((await api('GET', '/catalog/providers/acme')).data).toMatchObject({ models: [{ id: 'old' }] });

  const without = await start('', { modelSnapshot: async () => undefined });
  without.directory.answer = statusAnswer(500);
  for (const path of ['/catalog/providers', '/catalog/providers/missing']) {
    expect(await without.api('GET', path)).toMatchObject({ code: 50004, data: null });
  }
  expect(await without.imported({ catalog_id: 'missing' })).toMatchObject({ code: 50004 });
});

it('reads the address from the environment before the configuration', async () => {
  const { home, url, directory, api } = await withConfiguredDirectory();
  expect((await api('GET', '/catalog/providers/acme')).code).toBe(0);
  expect(directory.requests.map((request) => request.url)).toEqual([new URL(url).pathname]);
  expect(home).not.toBe('');
});

async function withConfiguredDirectory() {
  const directory: TestDirectory = await directoryDuringTest(documentAnswer(catalog));
  const home = await refreshHome(`[cloud]\nmodel_directory_url = "${directory.url}"\n`);
  const server = await home.start();
  return { home: home.home, url: directory.url, directory, api: server.api };
}

it('imports an entry with all its models', async () => {
  const { imported, text, directory } = await start();
  directory.answer = documentAnswer({
    acme: directoryEntry([], {
      models: {
        a: directoryModel('large', {
          name: 'Large',
          limit: { context: 2000, output: 500 },
          reasoning_options: [{ type: 'effort', values: ['low', 'high'] }],
          cost: { input: 1, output: 2, cache_read: 0.5 },
        }),
        b: directoryModel('vendor/small', { provider: { npm: '@ai-sdk/anthropic', api: 'https://b.example' } }),
      },
    }),
  });
  expect(await imported({ catalog_id: 'acme', api_key: 'sk-1' })).toEqual({
    status: 201,
    data: {
      provider: {
        id: 'acme',
        type: 'openai',
        base_url: 'https://a.example/v1',
        default_model: 'acme/large',
        has_api_key: true,
        status: 'connected',
        models: ['acme/large', 'acme/vendor/small'],
      },
      models_imported: 2,
    },
  });
  expect(await text()).toMatchInlineSnapshot(`
    "default_model = "acme/large"

    [providers.acme]
    type = "openai"
    base_url = "https://a.example/v1"
    api_key = "sk-1"

    [models."acme/large"]
    provider = "acme"
    model = "large"
    max_context_size = 2000
    max_output_size = 500
    capabilities = [ "always_thinking", "tool_use" ]
    display_name = "Large"
    support_efforts = [ "low", "high" ]
    cost = { input = 1, output = 2, cache_read = 0.5 }

    [models."acme/vendor/small"]
    provider = "acme"
    model = "vendor/small"
    max_context_size = 1000
    capabilities = [ "tool_use" ]
    protocol = "anthropic"
    base_url = "https://b.example"
    "
  `);
});

const mine = `# mine
default_model = "mine/x"
[providers.acme]
type = "anthropic"
api_key = "sk-old"
base_url = "http://old"
default_model = "acme/large"
model_source = "static"
extra = "dropped"
[providers.acme.source]
kind = "apiJson"
url = "http://r"
apiKey = "sk-r"
[providers.acme.env]
OPENAI_API_KEY = "sk-env"
[providers.acme.custom_headers]
X-My_header = "1"
[models."acme/large"]
provider = "acme"
model = "large"
max_context_size = 5
note = "dropped"
[models."acme/large".overrides]
max_output_size = 7
[models.hand-made]
provider = "acme"
model = "large"
[models."mine/x"] # stays
provider = "mine"
model = "x"
[secondary_model]
default_model = "acme/large"
[secondary_model.models]
"acme/large" = "a"
hand-made = "b"
`;

it('refreshes a provider: its settings and overrides stay, its other aliases vanish, also from the pool', async () => {
  const { imported, text } = await start(mine);
  expect(await imported({ catalog_id: 'acme' })).toMatchObject({ data: { models_imported: 2 } });
  expect(await text()).toMatchInlineSnapshot(`
    "# mine
    default_model = "mine/x"
    [providers.acme]
    type = "openai"
    api_key = "sk-old"
    base_url = "https://a.example/v1"
    default_model = "acme/large"
    model_source = "static"
    [providers.acme.env]
    OPENAI_API_KEY = "sk-env"
    [providers.acme.custom_headers]
    X-My_header = "1"
    [models."acme/large"]
    provider = "acme"
    model = "large"
    max_context_size = 1000
    capabilities = [ "tool_use" ]
    [models."acme/large".overrides]
    max_output_size = 7
    [models."mine/x"] # stays
    provider = "mine"
    model = "x"
    [secondary_model]
    default_model = "acme/large"
    [secondary_model.models]
    "acme/large" = "a"

    [models."acme/vendor/small"]
    provider = "acme"
    model = "vendor/small"
    max_context_size = 1000
    capabilities = [ "tool_use" ]
    "
  `);
});

it('writes nothing when nothing differs', async () => {
  const { imported, stamp } = await start(mine);
  await imported({ catalog_id: 'acme' });
  const before = await stamp();
  expect(await imported({ catalog_id: 'acme' })).toMatchObject({ status: 201 });
  expect(await stamp()).toBe(before);
});

it.each([
  ['stays', undefined, true],
  ['is cleared', '', false],
  ['is replaced', 'sk-new', true],
])('the stored key %s', async (_what, api_key, has_api_key) => {
  const { imported, api } = await start('[providers.acme]\napi_key = "sk-old"\n');
  expect(await imported({ catalog_id: 'acme', api_key })).toMatchObject({ data: { provider: { has_api_key } } });
  const expected = api_key === '' ? undefined : (api_key ?? 'sk-old');
  expect((await api('GET', '/providers/acme')).data).toMatchObject(expected === undefined ? {} : { api_key: expected });
});

it('seeds the default model only if there is none', async () => {
  const { imported, api } = await start('default_model = " "\n');
  await imported({ catalog_id: 'claude' });
  await imported({ catalog_id: 'acme' });
  expect((await api('GET', '/config')).data).toMatchObject({ default_model: 'claude/c' });
});

it('imports under another id and at another address', async () => {
  const { imported, api } = await start();
  expect(await imported({ catalog_id: 'nowhere', id: 'My Own_1', base_url: ' http://127.0.0.1:1/v1 ' })).toMatchObject({
    data: { provider: { id: 'My Own_1', base_url: 'http://127.0.0.1:1/v1', models: ['My Own_1/m'] } },
  });
  expect(await imported({ catalog_id: 'claude', base_url: 'http://127.0.0.1:1/v1' })).toMatchObject({
    data: { provider: { type: 'anthropic', base_url: 'http://127.0.0.1:1' } },
  });
  expect((await api('GET', '/providers/claude')).code).toBe(0);
});

it('checks the body, with details', async () => {
  const { api } = await start();
  const detailsOf = async (body?: unknown) => (await api('POST', '/providers:import_catalog', body)).details;
  expect(await detailsOf()).toMatchObject([{ path: '' }]);
  expect(await detailsOf([])).toMatchObject([{ path: '' }]);
  expect(await detailsOf({})).toMatchObject([{ path: 'catalog_id' }]);
  expect(await detailsOf({ catalog_id: '' })).toMatchObject([{ path: 'catalog_id' }]);
  expect(await detailsOf({ catalog_id: 'acme', id: 'a/b', api_key: 1 })).toMatchObject([
    { path: 'id' },
    { path: 'api_key' },
  ]);
});

it.each<[object, number, string]>([
  [{ catalog_id: 'missing', base_url: '' }, 40417, 'catalog entry missing does not exist'],
  [{ catalog_id: '__proto__' }, 40417, 'catalog entry __proto__ does not exist'],
  [{ catalog_id: 'unknown', base_url: '' }, 40004, 'catalog entry unknown cannot be imported: unknown-explicit-type'],
  [{ catalog_id: 'rejected' }, 40004, 'catalog entry rejected cannot be imported: proprietary-sdk'],
  [{ catalog_id: 'nowhere', base_url: ' ' }, 40004, 'catalog entry nowhere cannot be imported: empty-base-url'],
  [
    { catalog_id: 'acme', base_url: 'http://${X}' },
    40004,
    'catalog entry acme cannot be imported: placeholder-base-url',
  ],
  [{ catalog_id: 'nowhere' }, 40004, 'catalog entry nowhere requires a base_url'],
  [{ catalog_id: 'empty' }, 40004, 'catalog entry empty has no importable models'],
  [{ catalog_id: 'no.id' }, 40004, 'catalog entry no.id requires an id: its own is not allowed for a provider'],
  [{ catalog_id: 'a/b' }, 40004, 'catalog entry a/b requires an id: its own is not allowed for a provider'],
])('refuses %j with %i', async (body, code, msg) => {
  const { imported, text } = await start('# empty\n');
  expect(await imported(body)).toEqual(failsWith(code, msg));
  expect(await text()).toBe('# empty\n');
});

const owned = `[providers.acme.oauth]
storage = "file"
key = "k"
[models."acme/large"]
provider = "other"
`;

it('refuses a provider with a login, then aliases of another provider', async () => {
  const { imported, text, write } = await start(owned);
  expect(await imported({ catalog_id: 'acme' })).toEqual(
    failsWith(40003, 'provider acme is managed by OAuth login; use POST /oauth/logout instead'),
  );
  expect(await text()).toBe(owned);
  await write(owned.replace(/^\[providers[^[]*/, ''));
  expect(await imported({ catalog_id: 'acme' })).toEqual(
    failsWith(40001, 'model alias key already owned by another provider: acme/large'),
  );
});

it('writes two imports at a time one after the other', async () => {
  const { imported, api } = await start();
  const replies = await Promise.all([imported({ catalog_id: 'acme' }), imported({ catalog_id: 'claude' })]);
  expect(replies.map((reply) => 'status' in reply && reply.status)).toEqual([201, 201]);
  expect((await api('GET', '/providers')).data).toMatchObject({ items: [{ id: 'acme' }, { id: 'claude' }] });
});
