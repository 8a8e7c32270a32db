/** A default model that its registry withdraws: its successor replaces it, also in the running sessions of all servers. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import * as z from 'zod';
import { parseToml } from '#server/config/document.ts';
import { cloudDuringTest } from '#support/cloud/cloud.ts';
import { createCloudRegistry, registryEntry, type CloudRegistry } from '#support/cloud/registry.ts';
import { eventually } from '#support/patience.ts';
import { refreshed } from '#support/refresh-home.ts';
import { startServer, type TestServer } from '#support/server.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect } from '#support/ws-client.ts';

let world: World;
let second: TestServer;
let registry: CloudRegistry;
let url: string;

const env = () => ({ SERVICE_CODE_MODEL_CATALOG_REFRESH_ON_START: '0' });
const upgrade = (model: string) => ({ upgrade: { model, migration_markdown: 'Use **{{to}}** instead of {{from}}.' } });
const thinking = { reasoning: true, tool_call: true, support_efforts: ['low', 'high'] };
const entry = (models: Record<string, object>) => registryEntry('acme', models, { api: world.model.baseUrl('openai') });

beforeEach(async () => {
  world = await startWorld({ env, config: { default_model: '' } });
  second = await startServer({ home: world.server.home, env });
  registry = createCloudRegistry({
    acme: entry({
      old: { ...thinking, ...upgrade('new'), name: 'Old One' },
      new: { tool_call: true },
      other: thinking,
    }),
  });
  const cloud = await cloudDuringTest(registry.part);
  url = `${cloud.url}/registry.json`;
  await world.ok('POST', '/providers:import_registry', { url, api_key: 'fake-key' });
});
afterEach(async () => {
  await second.close();
  await world.close();
});

const document = async () => parseToml(await readFile(join(world.server.home, 'config.toml'), 'utf8'));
const statusSchema = z.object({ model: z.string().optional(), thinking_level: z.string() });
const statusOf = async (server: TestServer, id: string) =>
  statusSchema.parse((await server.api('GET', `/sessions/${id}/status`)).data);

/** A session of this server with one turn. */
async function used(server: TestServer, more: object = {}): Promise<string> {
  const session = await server.api('POST', '/sessions', { metadata: { cwd: world.project } });
  const { id } = z.object({ id: z.string() }).parse(session.data);
  world.model.enqueue({ text: 'hello' });
  const submitted = await server.api('POST', `/sessions/${id}/prompts`, {
    content: [{ type: 'text', text: 'hi' }],
    ...more,
  });
  expect(submitted.code).toBe(0);
  await eventually(async () => {
    expect((await server.api('GET', `/sessions/${id}`)).data).toMatchObject({
      busy: false,
      last_turn_reason: 'completed',
    });
  });
  return id;
}

it('the successor replaces the default, and the agents of each server follow with their next turn', async () => {
  await eventually(async () => {
    expect((await second.api('GET', '/config')).data).toMatchObject({ default_model: 'acme/old' });
  });
  await world.ok('POST', '/config', {
    secondary_model: { default_model: 'acme/old', models: { 'acme/old': 'a', 'acme/other': 'b' } },
    providers: { acme: { default_model: 'acme/old' } },
  });
  const here = await used(world.server);
  const there = await used(second);
  const elsewhere = await used(second, { model: 'acme/other' });
  expect(await statusOf(second, there)).toEqual(expect.objectContaining({ model: 'acme/old', thinking_level: 'high' }));
  const client = await connect(world.server);

  registry.document = { acme: entry({ new: { tool_call: true }, other: thinking }) };
  const report = await refreshed(world.server);
  const retired_default = { from: 'acme/old', to: 'acme/new', from_display_name: 'Old One' };
  expect(report).toEqual({
    changed: [{ provider_id: 'acme', provider_name: 'acme name', added: 0, removed: 1 }],
    unchanged: ['fake'],
    failed: [],
    retired_default,
  });
  const { payload } = await client.waitFor(({ type }) => type === 'event.model_catalog.changed');
  expect(payload).toMatchObject({ retired_default });
  expect(await document()).toMatchObject({
    default_model: 'acme/new',
    providers: { acme: { default_model: 'acme/new' } },
    secondary_model: { default_model: 'acme/new', models: { 'acme/new': 'a', 'acme/other': 'b' } },
  });

  for (const [server, id] of [
    [world.server, here],
    [second, there],
  ] as const) {
    await eventually(async () => {
      // The successor has no thinking.
      expect(await statusOf(server, id)).toMatchObject({ model: 'acme/new', thinking_level: 'off' });
    });
    world.model.enqueue({ text: 'again' });
    await server.api('POST', `/sessions/${id}/prompts`, { content: [{ type: 'text', text: 'more' }] });
    await eventually(() => expect(world.model.requests.at(-1)?.body).toMatchObject({ model: 'new' }));
  }
  expect(await statusOf(second, elsewhere)).toMatchObject({ model: 'acme/other' });
  await client.close();
});

it('a running turn continues with its model', async () => {
  const session = await world.session();
  const held = world.model.enqueue({ text: 'slow', hold: true });
  await world.prompt(session.id, 'hi');
  await held.sent;
  registry.document = { acme: entry({ new: { tool_call: true } }) };
  await refreshed(world.server);
  await eventually(async () => expect(await statusOf(world.server, session.id)).toMatchObject({ model: 'acme/new' }));
  held.release();
  await eventually(async () => {
    expect((await world.api('GET', `/sessions/${session.id}`)).data).toMatchObject({ last_turn_reason: 'completed' });
  });
  expect(world.model.requests.map(({ body }) => body.model)).toEqual(['old']);
});

it('without a usable successor the default is cleared, and agents stay with their model', async () => {
  await world.ok('POST', '/config', { thinking: { enabled: true } });
  const id = await used(world.server);
  registry.document = { acme: entry({ other: thinking }) };
  expect(await refreshed(world.server)).not.toHaveProperty('retired_default');
  expect(await document()).not.toHaveProperty('default_model');
  expect(await document()).not.toHaveProperty('thinking');
  expect(await statusOf(world.server, id)).toMatchObject({ model: 'acme/old' });
});

it('an import of the same registry replaces the default too, which an event announces', async () => {
  const client = await connect(world.server);
  registry.document = { acme: entry({ new: {} }) };
  const answer = await world.api('POST', '/providers:import_registry', { url });
  expect(answer).toMatchObject({ code: 0, data: { models_imported: 1 } });
  const { payload } = await client.waitFor(({ type }) => type === 'event.model_catalog.changed');
  expect(payload).toMatchObject({
    changed: [{ provider_id: 'acme', provider_name: 'acme name', added: 0, removed: 2 }],
    unchanged: [],
    failed: [],
    retired_default: { from: 'acme/old', to: 'acme/new', from_display_name: 'Old One' },
  });
  expect(await document()).toMatchObject({ default_model: 'acme/new' });
  await client.close();
});

it('the upgrade is listed with its text and the alias of the successor', async () => {
  const { items } = z
    .object({ items: z.array(z.looseObject({ model: z.string() })) })
    .parse(await world.ok('GET', '/models'));
  expect(items.find(({ model }) => model === 'acme/old')).toMatchObject({
    upgrade: { model: 'acme/new', migration_markdown: 'Use **new** instead of old.' },
  });
});
