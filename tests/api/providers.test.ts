import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import * as z from 'zod';
import { startServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import type { TestServer } from '#support/server.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  if (server) await rm(server.home, { recursive: true, force: true });
  server = undefined;
});

async function start(file = ''): Promise<TestServer> {
  const home = await temporaryDirectory();
  await writeFile(join(home, 'config.toml'), file);
  server = await startServer({ home, env: () => ({}) });
  return server;
}

const fileOf = ({ home }: TestServer) => readFile(join(home, 'config.toml'), 'utf8');
const model = (name: string, more = {}) => ({ model: name, max_context_size: 1000, ...more });
const rawSchema = z.object({ raw: z.record(z.string(), z.json()) });
const rawOf = async ({ api }: TestServer) => rawSchema.parse((await api('GET', '/config')).data).raw;

const stored = `# mine
default_provider = "acme"
default_model = "acme/large"
[providers.acme] # the first
type = "openai"
api_key = "sk-1"
base_url = "http://a"
default_model = "acme/large"
extra = "kept"
[providers.acme.env]
OPENAI_API_KEY = "sk-env"
[providers.other]
type = "anthropic"
[models.hand-made]
provider = "acme"
model = "large"
display_name = "Large"
max_context_size = 10
note = "survives"
[models.hand-made.overrides]
max_output_size = 5
[models."acme/large"]
provider = "acme"
model = "small"
max_context_size = 20
[models."other/x"]
provider = "other"
model = "x"
max_context_size = 30
[secondary_model]
default_model = "acme/large"
[secondary_model.models]
"acme/large" = "a"
hand-made = "b"
"other/x" = "c"
`;

it('creates a provider and sets the default model only if there is none', async () => {
  const world = await start('# note\n');
  const form = {
    id: 'my acme',
    type: 'openai',
    api_key: 'k',
    base_url: ' http://a ',
    models: [model('a/b:c', { display_name: 'A', junk: 1 }), model('z')],
    default_model: 'z',
  };
  const created = await world.api('POST', '/providers', form);
  expect(created).toMatchObject({ status: 201, code: 0 });
  expect(created.data).toEqual({
    id: 'my acme',
    type: 'openai',
    base_url: 'http://a',
    default_model: 'my acme/z',
    has_api_key: true,
    status: 'connected',
    models: ['my acme/a/b:c', 'my acme/z'],
  });
  await world.api('POST', '/providers', {
    id: '\u540d',
    type: 'native',
    api_key: ' ',
    base_url: '',
    models: [model('m')],
  });
  expect(await rawOf(world)).toEqual({
    default_model: 'my acme/z',
    providers: {
      'my acme': { type: 'openai', base_url: 'http://a', api_key: '***', default_model: 'my acme/z' },
      '\u540d': { type: 'native' },
    },
    models: {
      'my acme/a/b:c': { provider: 'my acme', model: 'a/b:c', max_context_size: 1000, display_name: 'A' },
      'my acme/z': { provider: 'my acme', model: 'z', max_context_size: 1000 },
      '\u540d/m': { provider: '\u540d', model: 'm', max_context_size: 1000 },
    },
  });
  expect(await fileOf(world)).toContain('# note');
  expect((await world.api('GET', '/providers/my%20acme')).data).toMatchObject({ id: 'my acme', api_key: 'k' });
  expect((await world.api('GET', '/providers/%E5%90%8D')).data).toMatchObject({
    status: 'unconfigured',
    has_api_key: false,
  });
  expect((await world.api('GET', '/auth')).data).toEqual({
    models_ready: true,
    providers_count: 2,
    managed_provider: null,
  });
});

it('lists every field and then every problem between fields', async () => {
  const { api } = await start();
  expect(await api('POST', '/providers', { id: '-x', type: 'nope', models: [] })).toMatchObject({
    code: 40001,
    details: [
      {
        path: 'id',
        message: 'id must start with a letter or digit and may only contain letters, digits, "-", "_" and spaces',
      },
      { path: 'type' },
      { path: 'models' },
    ],
  });
  const form = {
    id: 'x',
    type: 'openai',
    base_url: '${HOST}',
    default_model: 'c',
    models: [model('a'), model('b'), model('a'), model('b')],
  };
  expect(await api('POST', '/providers', form)).toMatchObject({
    msg: 'base_url: base_url must not contain an environment variable placeholder',
    details: [
      { path: 'base_url', message: 'base_url must not contain an environment variable placeholder' },
      { path: 'models', message: 'duplicate model: a' },
      { path: 'default_model', message: 'default_model must be one of models[].model' },
    ],
  });
});

it('refuses a used id and an alias of another provider', async () => {
  const { api } = await start(stored);
  expect(await api('POST', '/providers', { id: 'acme', type: 'openai', models: [model('m')] })).toMatchObject({
    code: 40921,
    msg: 'provider acme already exists',
  });
  const world = await start('[models."new/m"]\nprovider = "other"\nmodel = "m"\n');
  expect(await world.api('POST', '/providers', { id: 'new', type: 'openai', models: [model('m')] })).toMatchObject({
    code: 40001,
    msg: 'model alias key already owned by another provider: new/m',
  });
});

it('10. replaces a provider: the key has three states, fields of an alias survive', async () => {
  const world = await start(stored);
  const form = { type: 'anthropic', models: [model('large', { max_output_size: 7 })] };
  const reply = await world.api('PUT', '/providers/acme', form);
  expect(reply.data).toMatchObject({
    provider: { id: 'acme', type: 'anthropic', models: ['acme/large'], default_model: 'acme/large' },
  });
  expect((await world.api('GET', '/providers/acme')).data).toMatchObject({ api_key: 'sk-1' });
  const raw = await rawOf(world);
  expect(raw.providers).toEqual({
    acme: { type: 'anthropic', api_key: '***', extra: 'kept', env: { OPENAI_API_KEY: '***' } },
    other: { type: 'anthropic' },
  });
  expect(raw.models).toEqual({
    'acme/large': {
      provider: 'acme',
      model: 'large',
      max_context_size: 1000,
      max_output_size: 7,
      note: 'survives',
      overrides: { max_output_size: 5 },
    },
    'other/x': { provider: 'other', model: 'x', max_context_size: 30 },
  });
  expect(raw.secondary_model).toEqual({ default_model: 'acme/large', models: { 'acme/large': 'a', 'other/x': 'c' } });
  expect(await fileOf(world)).toContain('# the first');

  await world.api('PUT', '/providers/acme', { ...form, api_key: 'sk-2', base_url: 'http://b' });
  expect((await world.api('GET', '/providers/acme')).data).toMatchObject({ api_key: 'sk-2', base_url: 'http://b' });
  await world.api('PUT', '/providers/acme', { ...form, type: 'openai', api_key: '' });
  const cleared = (await world.api('GET', '/providers/acme')).data;
  expect(cleared).not.toHaveProperty('api_key');
  // The environment still has a key for this type.
  expect(cleared).toMatchObject({ has_api_key: true, status: 'connected' });
});

it('9. a rename updates defaults and the pool', async () => {
  const world = await start(stored);
  const form = { new_id: 'fresh', type: 'openai', models: [model('small'), model('large')] };
  expect((await world.api('PUT', '/providers/acme', form)).data).toMatchObject({
    provider: { id: 'fresh', models: ['fresh/small', 'fresh/large'] },
  });
  const raw = await rawOf(world);
  expect(Object.keys(z.object({}).loose().parse(raw.providers))).toEqual(['fresh', 'other']);
  expect(raw).toMatchObject({ default_provider: 'fresh', default_model: 'fresh/small' });
  expect(Object.keys(z.object({}).loose().parse(raw.models))).toEqual(['fresh/small', 'fresh/large', 'other/x']);
  expect(raw.secondary_model).toEqual({
    default_model: 'fresh/small',
    models: { 'fresh/small': 'a', 'fresh/large': 'b', 'other/x': 'c' },
  });
  expect((await world.api('GET', '/providers/acme')).code).toBe(40412);
  expect((await world.api('PUT', '/providers/fresh', { ...form, new_id: 'other' })).code).toBe(40921);
  expect((await world.api('PUT', '/providers/fresh', { ...form, new_id: 'fresh' })).code).toBe(0);
  expect((await world.api('PUT', '/providers/gone', form)).code).toBe(40412);
});

it('9. deleting keeps dangling defaults and removes the pool with its default', async () => {
  const world = await start(stored);
  const answer = await world.fetch('/api/v1/providers/acme', { method: 'DELETE' });
  expect(answer.status).toBe(204);
  expect(await answer.text()).toBe('');
  const raw = await rawOf(world);
  expect(raw).toMatchObject({
    default_provider: 'acme',
    default_model: 'acme/large',
    providers: { other: { type: 'anthropic' } },
  });
  expect(Object.keys(z.object({}).loose().parse(raw.models))).toEqual(['other/x']);
  expect(raw).not.toHaveProperty('secondary_model');
  expect((await world.api('GET', '/auth')).data).toMatchObject({ models_ready: false, providers_count: 1 });
  expect((await world.api('DELETE', '/providers/acme')).code).toBe(40412);
});

it('11. concurrent creations lose nothing', async () => {
  const { api } = await start(stored);
  const create = (id: string) => api('POST', '/providers', { id, type: 'openai', models: [model('m')] });
  const answers = await Promise.all([create('p1'), create('p2'), create('p3'), create('p3')]);
  expect(answers.map(({ code }) => code).sort()).toEqual([0, 0, 0, 40921]);
  const { data } = await api('GET', '/providers');
  expect(
    z
      .object({ items: z.array(z.object({ id: z.string() })) })
      .parse(data)
      .items.map(({ id }) => id)
      .sort(),
  ).toEqual(['acme', 'other', 'p1', 'p2', 'p3']);
});

it('14. the managed provider cannot be edited; its status is read from its slot', async () => {
  const world = await start(`[providers."managed:service-code"]
type = "native"
[providers."managed:service-code".oauth]
storage = "file"
key = "oauth/service-code"
`);
  const path = '/providers/managed%3Aservice-code';
  const refusal = {
    code: 40003,
    msg: 'provider managed:service-code is managed by OAuth login; use POST /oauth/logout instead',
  };
  expect(await world.api('PUT', path, { type: 'native', models: [model('m')] })).toMatchObject(refusal);
  expect(await world.api('DELETE', '/providers/managed:service-code')).toMatchObject(refusal);
  expect((await world.api('GET', path)).data).toMatchObject({ status: 'unconfigured', has_api_key: false });
  const status = async () => (await world.api('GET', '/auth')).data;
  const managed = (text: string) => ({ managed_provider: { name: 'managed:service-code', status: text } });
  expect(await status()).toMatchObject(managed('unauthenticated'));

  const folder = join(world.home, 'credentials');
  await mkdir(folder);
  const write = (token: unknown) => writeFile(join(folder, 'service-code.json'), JSON.stringify(token));
  await write({ access_token: 'a', refresh_token: 'r', expires_at: 1 });
  expect(await status()).toMatchObject(managed('authenticated'));
  expect((await world.api('GET', path)).data).toMatchObject({ status: 'connected', has_api_key: false });
  await write({ access_token: 'a', refresh_token: '', expires_at: 1 });
  expect(await status()).toMatchObject(managed('expired'));
  await write({ access_token: '', scope: 's' });
  expect(await status()).toMatchObject(managed('revoked'));
});
