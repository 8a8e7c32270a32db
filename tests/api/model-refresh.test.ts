/** Refreshes of the managed login's models over HTTP, and what a refresh of all providers does. */
import { expect, it } from 'vitest';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { slotKey, slotName } from '#server/account/credential-slots.ts';
import { cloudDuringTest } from '#support/cloud/cloud.ts';
import { createCloudOAuth } from '#support/cloud/oauth.ts';
import { createCloudModels, createCloudRegistry, registryEntry } from '#support/cloud/registry.ts';
import { refreshed, refreshHome } from '#support/refresh-home.ts';
import { connect } from '#support/ws-client.ts';

const MANAGED = 'managed:service-code';
const chat = { id: 'chat', context_length: 1000, supports_reasoning: true };
const quick = { id: 'quick', context_length: '2000', supports_tool_use: false, supports_image_in: true };

/** A home with a login at a scripted cloud. */
async function setUp({ data = [chat, quick] as unknown, more = '', head = '', isLoggedIn = true } = {}) {
  const oauth = createCloudOAuth();
  const models = createCloudModels(data, oauth.accepts);
  const cloud = await cloudDuringTest(oauth.part, models.part);
  const base = `${cloud.url}/managed/v1`;
  const key = slotKey(cloud.url, base);
  const config = `${head}[providers."${MANAGED}"] # the login
type = "native"
base_url = "${base}"
api_key = ""
oauth = { storage = "file", key = "${key}", oauth_host = "${cloud.url}" }
${more}`;
  const home = await refreshHome(config, cloud.url);
  const token = { ...oauth.issue(), expires_at: Math.floor(Date.now() / 1000) + 3600 };
  if (isLoggedIn) {
    await mkdir(join(home.home, 'credentials'), { recursive: true, mode: 0o700 });
    await writeFile(join(home.home, 'credentials', `${slotName(key)}.json`), JSON.stringify(token));
  }
  const server = await home.start();
  return { oauth, models, cloud, base, key, home, server, token };
}

it('lists the models of the login; the first is the default, and the services of the login are entered', async () => {
  const { home, server, base, key, cloud, token } = await setUp({ head: '# mine\n\n' });
  expect(await refreshed(server)).toEqual({
    changed: [{ provider_id: MANAGED, provider_name: 'Service Code', added: 2, removed: 0 }],
    unchanged: [],
    failed: [],
  });
  const oauth = { storage: 'file', key, oauth_host: cloud.url };
  expect(await home.document()).toEqual({
    default_model: `${MANAGED}/chat`,
    providers: { [MANAGED]: { type: 'native', base_url: base, api_key: '', oauth } },
    models: {
      [`${MANAGED}/chat`]: {
        provider: MANAGED,
        model: 'chat',
        max_context_size: 1000,
        capabilities: ['thinking', 'tool_use'],
      },
      [`${MANAGED}/quick`]: { provider: MANAGED, model: 'quick', max_context_size: 2000, capabilities: ['image_in'] },
    },
    thinking: { enabled: true },
    services: {
      search: { base_url: `${base}/search`, api_key: '', oauth },
      fetch: { base_url: `${base}/fetch`, api_key: '', oauth },
    },
  });
  expect(await home.text()).toMatch(/^# mine\n/);
  expect(await home.text()).toContain('# the login');
  const [request] = cloud.requestsOf('/managed/v1/models');
  expect(request?.headers).toMatchObject({
    authorization: `Bearer ${token.access_token}`,
    accept: 'application/json',
    'x-service-device-id': expect.any(String),
  });
  const before = await home.stamp();
  expect(await refreshed(server)).toEqual({ changed: [], unchanged: [MANAGED], failed: [] });
  expect(await home.stamp()).toBe(before);
});

it('one model without a valid context length fails the whole list, and nothing is written', async () => {
  const { home, server } = await setUp({ data: [chat, { ...quick, context_length: 0 }] });
  const before = await home.stamp();
  expect(await refreshed(server)).toEqual({
    changed: [],
    unchanged: [],
    failed: [{ provider: MANAGED, reason: 'Model quick of the list has no valid context_length' }],
  });
  expect(await home.stamp()).toBe(before);
});

it.each([
  ['an empty list', [], { changed: [], unchanged: [MANAGED], failed: [] }],
  [
    'no list',
    {},
    { changed: [], unchanged: [], failed: [{ provider: MANAGED, reason: 'The list of models is not valid' }] },
  ],
])('%s changes nothing', async (_name, data, report) => {
  const { home, server } = await setUp({ data });
  const before = await home.stamp();
  expect(await refreshed(server)).toEqual(report);
  expect(await home.stamp()).toBe(before);
});

it('without a token the provider fails, and no request for models is sent', async () => {
  const { server, cloud } = await setUp({ isLoggedIn: false });
  const { failed } = await refreshed(server, '/providers:refresh_oauth');
  expect(failed).toEqual([{ provider: MANAGED, reason: expect.stringMatching(/^Login required: /) }]);
  expect(cloud.requestsOf('/managed/v1/models')).toEqual([]);
});

it('a refused token is renewed and the request repeated a single time', async () => {
  const { server, cloud, oauth, token } = await setUp();
  oauth.end(token.access_token);
  expect(await refreshed(server, '/providers:refresh_oauth')).toMatchObject({ changed: [{ added: 2 }] });
  expect(cloud.requestsOf('/managed/v1/models')).toHaveLength(2);
  expect(oauth.refreshes).toEqual([token.refresh_token]);
});

it('the token takes precedence over an Authorization header that the user added', async () => {
  const { server, cloud, token } = await setUp({
    more: 'custom_headers = { Authorization = "mine", X-Mine = "yes" }\n',
  });
  expect(await refreshed(server, '/providers:refresh_oauth')).toMatchObject({ changed: [{ added: 2 }] });
  expect(
    cloud.requestsOf('/managed/v1/models').map(({ headers }) => [headers.authorization, headers['x-mine']]),
  ).toEqual([[`Bearer ${token.access_token}`, 'yes']]);
});

it('the scope of the login has only its provider; it is empty without a login', async () => {
  const { server } = await setUp({ more: '[providers.other]\ntype = "openai"\n' });
  expect(await refreshed(server, '/providers:refresh_oauth')).toMatchObject({
    changed: [{ provider_id: MANAGED }],
    unchanged: [],
    failed: [],
  });
  const plain = await refreshHome('[providers.other]\ntype = "openai"\n');
  expect(await refreshed(await plain.start(), '/providers:refresh_oauth')).toEqual({
    changed: [],
    unchanged: [],
    failed: [],
  });
});

it('a default that exists and configured services are retained', async () => {
  const { home, server } = await setUp({
    head: 'default_model = "mine"\n',
    more: `[models.mine]
base_url = "http://127.0.0.1:9"
model = "m"
max_context_size = 5
[thinking]
enabled = false
[services.search]
base_url = "http://127.0.0.1:9/search"
`,
  });
  await refreshed(server);
  expect(await home.document()).toMatchObject({
    default_model: 'mine',
    thinking: { enabled: false },
    services: { search: { base_url: 'http://127.0.0.1:9/search' }, fetch: { api_key: '' } },
  });
});

it('a key for the managed API changes the models of its provider, and nothing else', async () => {
  const models = createCloudModels([quick], ({ authorization }) => authorization === 'Bearer key');
  const cloud = await cloudDuringTest(models.part);
  const home = await refreshHome(
    `default_model = "mine/gone"
[providers.mine]
type = "native"
base_url = "${cloud.url}/managed/v1/"
env = { SERVICE_API_KEY = "key" }
custom_headers = { x-mine = "1" }
[models."mine/gone"]
provider = "mine"
model = "gone"
[secondary_model]
default_model = "mine/gone"
`,
    cloud.url,
  );
  const before = await home.document();
  const server = await home.start();
  expect(await refreshed(server)).toEqual({
    changed: [{ provider_id: 'mine', provider_name: 'mine', added: 1, removed: 1 }],
    unchanged: [],
    failed: [],
  });
  expect(await home.document()).toEqual({
    default_model: 'mine/gone',
    providers: before.providers,
    models: { 'mine/quick': { provider: 'mine', model: 'quick', max_context_size: 2000, capabilities: ['image_in'] } },
  });
  expect(cloud.requests).toMatchObject([{ path: '/managed/v1/models', headers: { 'x-mine': '1' } }]);
});

it('providers fail independently of each other; every provider is in one list, in the order of the file', async () => {
  const registry = createCloudRegistry({ a: registryEntry('acme', { m: {} }) });
  const cloud = await cloudDuringTest(registry.part);
  const home = await refreshHome(`[providers.one]
type = "openai"
[providers.dead]
type = "openai"
source = { kind = "apiJson", url = "http://127.0.0.1:1/x", apiKey = "" }
[providers.acme]
type = "openai"
source = { kind = "apiJson", url = "${cloud.url}/registry.json", apiKey = "" }
[providers.fixed]
type = "native"
model_source = "static"
`);
  const server = await home.start({
    env: () => ({ SERVICE_CODE_MODEL_CATALOG_REFRESH_ON_START: '0', SERVICE_MODEL_NAME: 'x' }),
  });
  expect(await refreshed(server)).toEqual({
    changed: [{ provider_id: 'acme', provider_name: 'acme name', added: 1, removed: 0 }],
    unchanged: ['one', 'fixed', '__service_env__'],
    failed: [{ provider: 'dead', reason: expect.stringContaining('ECONNREFUSED') }],
  });
  expect(await refreshed(server, '/providers/__service_env__:refresh')).toEqual({
    changed: [],
    unchanged: ['__service_env__'],
    failed: [],
  });
});

it('clients receive the report after the write, before the changed configuration', async () => {
  const { server } = await setUp();
  const client = await connect(server);
  const report = await refreshed(server);
  const { payload } = await client.waitFor(({ type }) => type === 'event.model_catalog.changed');
  expect(payload).toEqual({
    type: 'event.model_catalog.changed',
    agentId: 'main',
    sessionId: '__global__',
    ...report,
  });
  await client.waitFor(({ type }) => type === 'event.config.changed');
  const events = client.frames.map(({ type }) => type).filter((type) => type.startsWith('event.'));
  expect(events).toEqual(['event.model_catalog.changed', 'event.config.changed']);
  await refreshed(server);
  await server.api('POST', '/config', { telemetry: false });
  await client.waitFor(({ payload: { changedFields } }) => String(changedFields) === 'telemetry');
  expect(client.frames.filter(({ type }) => type === 'event.model_catalog.changed')).toHaveLength(1);
  await client.close();
});
