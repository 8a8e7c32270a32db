/** Custom registries: imports and refreshes over HTTP, from a scripted registry. */
import { expect, it } from 'vitest';
import { cloudDuringTest } from '#support/cloud/cloud.ts';
import { createCloudRegistry, registryEntry } from '#support/cloud/registry.ts';
import { refreshed, refreshHome } from '#support/refresh-home.ts';
import type { TestServerOptions } from '#support/server.ts';

const tools = { tool_call: true };

async function setUp(document: unknown, config = '', options: TestServerOptions = {}) {
  const registry = createCloudRegistry(document);
  const cloud = await cloudDuringTest(registry.part);
  const home = await refreshHome(config);
  const server = await home.start(options);
  const url = `${cloud.url}/registry.json`;
  const load = (body: object = {}) => server.api('POST', '/providers:import_registry', { url, ...body });
  return { registry, cloud, home, server, url, load };
}

const source = (url: string, key = 'k') => ({ kind: 'apiJson', url, apiKey: key });

it('imports the providers of a registry with their models, and seeds the default model', async () => {
  const { registry, load, home, url, cloud, server } = await setUp({
    first: registryEntry('acme', {
      large: { ...tools, reasoning: true, limit: { context: 1000.7 }, name: 'Large', cost: { input: 1, output: 2 } },
      small: { id: 'small-1', support_efforts: ['low', 'high'], default_effort: 'low' },
    }),
    broken: { id: 'broken' },
    second: registryEntry('beta', {}),
  });
  registry.keys = ['k'];
  const answer = await load({ api_key: 'k' });
  expect(answer).toMatchObject({ status: 201, code: 0, data: { models_imported: 2 } });
  expect(answer.data).toMatchObject({
    providers: [
      { id: 'acme', type: 'openai', base_url: 'http://127.0.0.1:9/v1', models: ['acme/large', 'acme/small'] },
      { id: 'beta', models: [] },
    ],
  });
  expect(await home.document()).toEqual({
    default_model: 'acme/large',
    providers: {
      acme: { type: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: 'k', source: source(url) },
      beta: { type: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: 'k', source: source(url) },
    },
    models: {
      'acme/large': {
        provider: 'acme',
        model: 'large',
        max_context_size: 1000,
        capabilities: ['tool_use', 'thinking'],
        display_name: 'Large',
        cost: { input: 1, output: 2 },
      },
      'acme/small': {
        provider: 'acme',
        model: 'small-1',
        max_context_size: 131_072,
        capabilities: ['thinking'],
        display_name: 'small-1',
        support_efforts: ['low', 'high'],
        default_effort: 'low',
      },
    },
  });
  expect(cloud.requests).toMatchObject([
    { path: '/registry.json', headers: { accept: 'application/json', authorization: 'Bearer k' } },
  ]);
  expect(cloud.requests[0]?.headers['user-agent']).toMatch(/^service-code\/\S+$/);
  expect(cloud.requests[0]?.headers).not.toHaveProperty('x-service-device-id');
  // The stored key is reused.
  expect(await load()).toMatchObject({ code: 0 });
  expect(cloud.requests[1]?.headers.authorization).toBe('Bearer k');
  expect((await server.api('GET', '/providers/acme')).data).toMatchObject({ api_key: 'k' });
});

it.each([
  ['no URL', 'nonsense', 'the URL must start with http:// or https://'],
  ['another protocol', 'ftp://127.0.0.1/x', 'the URL must start with http:// or https://'],
])('refuses %s', async (_name, url, reason) => {
  const { load } = await setUp({});
  const answer = await load({ url });
  expect(answer).toMatchObject({ code: 40005, msg: `custom registry at ${url} cannot be imported: ${reason}` });
});

it.each([
  ['a status', { status: 418, body: 'teapot' }, 'cannot be imported: HTTP 418'],
  [
    'a status with a message',
    { status: 500, body: { error: { message: 'x'.repeat(400) } } },
    `imported: ${'x'.repeat(300)}…`,
  ],
  ['a text', { body: '<html>' }, 'cannot be imported: the reply is not JSON'],
  ['an array', { body: '[]' }, 'cannot be imported: the reply is not a JSON object'],
  ['an empty document', { body: '{}' }, 'has no importable providers'],
  [
    'nested values',
    { body: `{"a":${'['.repeat(300)}${']'.repeat(300)}}` },
    'cannot be imported: the reply is not JSON',
  ],
])('refuses a registry that answers with %s', async (_name, reply, message) => {
  const { load, registry, home, url } = await setUp({});
  registry.answerNext(reply);
  const answer = await load();
  expect(answer).toMatchObject({ code: 40005, data: null });
  expect(answer.msg).toBe(`custom registry at ${url} ${message.startsWith('imported') ? 'cannot be ' : ''}${message}`);
  expect(await home.text()).toBe('');
});

it('checks the body before any request', async () => {
  const { server, cloud } = await setUp({});
  expect(await server.api('POST', '/providers:import_registry', {})).toMatchObject({
    code: 40001,
    details: [{ path: 'url' }],
  });
  expect(cloud.requests).toEqual([]);
});

it('writes nothing if a listed provider has a login, or another provider owns an alias', async () => {
  const login = `[providers.acme]
type = "openai"
oauth = { storage = "file", key = "oauth/x" }
`;
  const { load, home, registry } = await setUp(
    { a: registryEntry('beta', { m: {} }), b: registryEntry('acme', {}) },
    login,
  );
  expect(await load()).toMatchObject({ code: 40003 });
  expect(await home.text()).toBe(login);
  const owned = '[models."beta/m"]\nprovider = "other"\nmodel = "x"\n';
  await home.write(owned);
  registry.document = { a: registryEntry('beta', { m: {} }) };
  expect(await load()).toMatchObject({
    code: 40001,
    msg: 'model alias key already owned by another provider: beta/m',
  });
  expect(await home.text()).toBe(owned);
});

it('takes over a provider of another origin, removes vanished ones, and retains overrides and comments', async () => {
  const { load, home, registry, url } = await setUp(
    { a: registryEntry('acme', { m: {} }), b: registryEntry('gone', { n: {} }) },
    `# mine
default_model = "other/x" # stays
[providers.acme]
type = "anthropic"
custom_headers = { a = "b" }
[models."acme/m"] # by hand
provider = "acme"
model = "before"
note = "dropped"
overrides = { display_name = "Mine" }
[models.extra]
provider = "acme"
model = "m"
[models."other/x"]
model = "x"
[secondary_model]
default_model = "other/x"
[secondary_model.models]
"other/x" = "a"
extra = "b"
`,
  );
  expect(await load()).toMatchObject({ code: 0, data: { models_imported: 2 } });
  expect(await home.text()).toMatch(/^# mine\ndefault_model = "other\/x" # stays\n/);
  registry.document = { a: registryEntry('acme', { m: { name: 'M' } }) };
  expect(await load()).toMatchObject({ code: 0, data: { models_imported: 1, providers: [{ id: 'acme' }] } });
  expect(await home.document()).toEqual({
    default_model: 'other/x',
    providers: { acme: { type: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: '', source: source(url, '') } },
    models: {
      'acme/m': {
        provider: 'acme',
        model: 'm',
        max_context_size: 131_072,
        capabilities: ['tool_use'],
        display_name: 'M',
        overrides: { display_name: 'Mine' },
      },
      'other/x': { model: 'x' },
    },
    secondary_model: { default_model: 'other/x', models: { 'other/x': 'a' } },
  });
});

it('a refresh reports every provider, and writes nothing if nothing differs', async () => {
  const { load, home, registry, server, cloud } = await setUp(
    { a: registryEntry('acme', { m: {}, n: {} }), b: registryEntry('beta', { x: {} }) },
    '# mine\n[providers.first] # static\ntype = "openai"\n',
  );
  await load({ api_key: 'k' });
  const before = await home.stamp();
  expect(await refreshed(server)).toEqual({ changed: [], unchanged: ['first', 'acme', 'beta'], failed: [] });
  expect(await home.stamp()).toBe(before);
  // One request for the providers of a registry.
  expect(cloud.requests).toHaveLength(2);

  const entry = registryEntry('acme', { n: { name: 'N' }, o: {} });
  registry.document = { new: registryEntry('gamma', { g: {} }), a: entry, foreign: registryEntry('first', { f: {} }) };
  expect(await refreshed(server)).toEqual({
    changed: [
      { provider_id: 'acme', provider_name: 'acme name', added: 1, removed: 1 },
      { provider_id: 'beta', provider_name: 'beta', added: 0, removed: 1 },
      { provider_id: 'gamma', provider_name: 'gamma name', added: 1, removed: 0 },
    ],
    unchanged: [],
    failed: [{ provider: 'first', reason: 'Another provider has the id of this entry of the registry' }],
  });
  const { providers, models } = await home.document();
  expect(Object.keys(Object(providers))).toEqual(['first', 'acme', 'gamma']);
  expect(Object.keys(Object(models))).toEqual(['acme/n', 'gamma/g', 'acme/o']);
  expect(await home.text()).toMatch(/^# mine\n\[providers.first\] # static\n/);
});

it('a document that changed nothing is applied again after an edit of the file', async () => {
  const { load, home, registry, server, cloud } = await setUp({
    a: registryEntry('acme', { m: { name: 'M' }, n: {} }),
  });
  await load();
  for (let run = 0; run < 2; run += 1) expect(await refreshed(server)).toMatchObject({ unchanged: ['acme'] });
  await home.write((await home.text()).replace('display_name = "M"', 'display_name = "edited"'));
  const fields = { provider_id: 'acme', provider_name: 'acme name', added: 0, removed: 0 };
  expect(await refreshed(server)).toEqual({ changed: [fields], unchanged: [], failed: [] });
  expect(await home.text()).toContain('display_name = "M"');
  expect(await refreshed(server)).toMatchObject({ changed: [], unchanged: ['acme'] });
  // Another document in between.
  registry.document = { a: registryEntry('acme', { n: {} }) };
  expect(await refreshed(server)).toMatchObject({ changed: [{ ...fields, removed: 1 }] });
  registry.document = { a: registryEntry('acme', { m: { name: 'M' }, n: {} }) };
  expect(await refreshed(server)).toMatchObject({ changed: [{ ...fields, added: 1 }] });
  expect(await refreshed(server)).toMatchObject({ changed: [], unchanged: ['acme'] });
  expect(cloud.requests).toHaveLength(8);
});

it('a refresh of one provider leaves its siblings, and changed facts alone count as 0 and 0', async () => {
  const { load, home, registry, server } = await setUp({
    a: registryEntry('acme', { m: {} }),
    b: registryEntry('beta', { x: {} }),
  });
  await load();
  registry.document = { a: registryEntry('acme', { m: { reasoning: true } }), c: registryEntry('gamma', { g: {} }) };
  expect(await refreshed(server, '/providers/acme:refresh')).toEqual({
    changed: [{ provider_id: 'acme', provider_name: 'acme name', added: 0, removed: 0 }],
    unchanged: [],
    failed: [],
  });
  const { providers, models } = await home.document();
  expect(Object.keys(Object(providers))).toEqual(['acme', 'beta']);
  expect(models).toMatchObject({ 'acme/m': { capabilities: ['thinking'] } });
  expect(await refreshed(server, '/providers/beta:refresh')).toEqual({
    changed: [],
    unchanged: [],
    failed: [{ provider: 'beta', reason: 'The registry does not list it any more' }],
  });
});

it('user fields, overrides and hand-made aliases survive a refresh; fields that are no longer declared vanish', async () => {
  const { load, home, registry, server } = await setUp({
    a: registryEntry('acme', { m: { cost: { input: 1, output: 1 }, default_effort: 'low', support_efforts: ['low'] } }),
  });
  await load();
  const text = await home.text();
  await home.write(`${text}note = "mine" # why
overrides = { max_context_size = 5 }

[models.extra]
provider = "acme"
model = "old"
`);
  registry.document = { a: registryEntry('acme', { m: { name: 'M' } }) };
  expect(await refreshed(server)).toMatchObject({ changed: [{ provider_id: 'acme', added: 0, removed: 0 }] });
  expect((await home.document()).models).toEqual({
    'acme/m': {
      provider: 'acme',
      model: 'm',
      max_context_size: 131_072,
      capabilities: ['tool_use'],
      display_name: 'M',
      note: 'mine',
      overrides: { max_context_size: 5 },
    },
    extra: { provider: 'acme', model: 'old' },
  });
  expect(await home.text()).toContain('note = "mine" # why');
});

it('adopts the key of a sibling that the registry accepts; the provider is unchanged', async () => {
  const { load, home, registry, server, url } = await setUp({
    a: registryEntry('acme', { m: {} }),
    b: registryEntry('beta', { x: {} }),
  });
  await load({ api_key: 'old' });
  const text = await home.text();
  // The second provider has a new key.
  const at = text.indexOf('[providers.beta');
  await home.write(text.slice(0, at) + text.slice(at).replaceAll('"old"', '"new"'));
  registry.keys = ['new'];
  expect(await refreshed(server)).toEqual({ changed: [], unchanged: ['acme', 'beta'], failed: [] });
  expect((await home.document()).providers).toMatchObject({
    acme: { api_key: 'new', source: source(url, 'new') },
    beta: { api_key: 'new', source: source(url, 'new') },
  });
});

it('a failed registry gives all its providers one reason, which contains no key, and stops no other', async () => {
  const { load, home, registry, server } = await setUp({
    a: registryEntry('acme', { m: {} }),
    b: registryEntry('beta', { x: {} }),
  });
  await load({ api_key: 'secret-key' });
  registry.keys = ['other'];
  const before = await home.stamp();
  const reason = 'the key [redacted] is not valid';
  expect(await refreshed(server)).toEqual({
    changed: [],
    unchanged: [],
    failed: [
      { provider: 'acme', reason },
      { provider: 'beta', reason },
    ],
  });
  expect(await home.stamp()).toBe(before);
});

it('a key that is longer than a message is not shown in part', async () => {
  const { load, registry, server } = await setUp({ a: registryEntry('acme', { m: {} }) });
  await load({ api_key: `key-${'x'.repeat(2000)}` });
  registry.keys = ['other'];
  expect(await refreshed(server)).toMatchObject({
    failed: [{ provider: 'acme', reason: 'the key [redacted] is not valid' }],
  });
});

it('a malformed or empty entry removes nothing', async () => {
  const { load, home, registry, server } = await setUp({
    a: registryEntry('acme', { m: {} }),
    b: registryEntry('beta', { x: {} }),
  });
  await load();
  const before = await home.stamp();
  registry.document = { a: { ...registryEntry('acme', { m: {} }), type: 'unknown' }, b: registryEntry('beta', {}) };
  expect(await refreshed(server)).toEqual({
    changed: [],
    unchanged: ['beta'],
    failed: [{ provider: 'acme', reason: 'Its entry in the registry is not valid' }],
  });
  expect(await home.stamp()).toBe(before);
});

it('keys of prototypes are ordinary keys', async () => {
  const { load, home, registry } = await setUp({});
  registry.document = `{"__proto__": ${JSON.stringify(registryEntry('__proto__', {}))},
    "constructor": {"id":"constructor","name":"n","api":"http://127.0.0.1:9","type":"openai",
    "models":{"__proto__":{"id":"__proto__","__proto__":{"tool_call":true}},"toString":{"id":"toString"}}}}`;
  expect(await load()).toMatchObject({
    code: 0,
    data: {
      models_imported: 2,
      providers: [{ id: 'constructor', models: ['constructor/__proto__', 'constructor/toString'] }],
    },
  });
  expect((await home.document()).models).toMatchObject({ 'constructor/__proto__': { model: '__proto__' } });
  expect({}).not.toHaveProperty('tool_call');
});

it('a refresh accepts any JSON as body', async () => {
  const { server } = await setUp({});
  for (const body of [undefined, {}, [], 'x', 3, null]) {
    expect(await server.api('POST', '/providers:refresh', body)).toMatchObject({ code: 0 });
  }
  const response = await server.fetch('/api/v1/providers:refresh', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{',
  });
  expect(await response.json()).toMatchObject({ code: 40001, msg: 'Body is not valid JSON' });
});

it.each([
  ['/providers:nothing', 'unsupported action: :nothing'],
  ['/providers/acme:nothing', 'unsupported action: acme:nothing'],
  ['/providers/acme', 'unsupported action: acme'],
])('refuses POST %s', async (path, msg) => {
  const { server } = await setUp({});
  expect(await server.api('POST', path)).toMatchObject({ code: 40001, msg });
});

it('an unknown provider is not refreshed', async () => {
  const { server } = await setUp({});
  expect(await server.api('POST', '/providers/acme:refresh')).toMatchObject({
    code: 40412,
    msg: 'provider acme does not exist',
  });
});

it('a registry with 100,000 models is refused and changes nothing', async () => {
  const { load, home, registry, server, url } = await setUp({ a: registryEntry('acme', { m: {} }) });
  await load();
  const before = await home.stamp();
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`m${at}`, {}]));
  registry.document = { a: registryEntry('acme', many) };
  expect(await load()).toMatchObject({
    code: 40005,
    msg: `custom registry at ${url} cannot be imported: it lists more than 10000 models`,
  });
  expect(await refreshed(server)).toMatchObject({
    failed: [{ provider: 'acme', reason: 'it lists more than 10000 models' }],
  });
  expect(await home.stamp()).toBe(before);
});

it('a document of 2 MB with hundreds of models is imported and refreshed, and never blocks for long', async () => {
  const markdown = 'm'.repeat(3000);
  const upgrade = { model: 'm0', migration_markdown: markdown };
  const many = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`m${at}`, { ...tools, upgrade }]));
  const { load, server, home } = await setUp({ a: registryEntry('acme', many) }, '# a comment\n');
  expect(await load()).toMatchObject({ code: 0, data: { models_imported: 600 } });
  const before = await home.stamp();
  expect(await refreshed(server)).toMatchObject({ unchanged: ['acme'], failed: [] });
  expect(await home.stamp()).toBe(before);
  expect(await home.text()).toMatch(/^# a comment\n/);
});

it('runs are sequential: a refresh that waits for another one sees its result', async () => {
  const { load, registry, server, cloud } = await setUp({ a: registryEntry('acme', { m: {} }) });
  await load();
  registry.document = { a: registryEntry('acme', { m: {}, n: {} }) };
  const reports = await Promise.all([
    refreshed(server),
    refreshed(server),
    refreshed(server, '/providers/acme:refresh'),
  ]);
  expect(reports.map(({ changed }) => changed.length)).toEqual([1, 0, 0]);
  expect(cloud.requests).toHaveLength(4);
});

it('a provider that is deleted during the request is not entered again', async () => {
  const document = { a: registryEntry('acme', { m: {} }) };
  let deleteFirst = async () => {};
  const cloud = await cloudDuringTest(async () => {
    await deleteFirst();
    return { body: document };
  });
  const home = await refreshHome('');
  const server = await home.start();
  await server.api('POST', '/providers:import_registry', { url: `${cloud.url}/` });
  deleteFirst = async () =>
    expect((await server.fetch('/api/v1/providers/acme', { method: 'DELETE' })).status).toBe(204);
  expect(await refreshed(server)).toEqual({ changed: [], unchanged: ['acme'], failed: [] });
  expect((await home.document()).providers).toBeUndefined();
});
