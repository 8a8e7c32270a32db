import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { startServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import type { TestServer } from '#support/server.ts';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  if (server) await rm(server.home, { recursive: true, force: true });
  server = undefined;
});

async function start(file: string): Promise<TestServer> {
  const home = await temporaryDirectory();
  await writeFile(join(home, 'config.toml'), file);
  server = await startServer({ home, env: () => ({}) });
  return server;
}

const file = `[providers.fake]
type = "native"
[models."fake/fake-1"]
provider = "fake"
model = "fake-1"
max_context_size = 1000
aliases = ["f1"]
support_efforts = ["low", "high"]
default_effort = "high"
[models."fake/fake-1".overrides]
support_efforts = ["low"]
display_name = "One"
[models."fake/fake-1".upgrade]
model = "fake/fake-2"
migration_markdown = "go"
[models.bare]
provider = "gone"
[models."flat:x"]
base_url = "http://127.0.0.1:9/v1"
model = "claude-unknown"
protocol = "anthropic"
max_context_size = 5
[models.broken-upgrade]
provider = "fake"
name = "n"
max_context_size = 5
upgrade = { model = 3 }
`;

it('lists every record with its effective values', async () => {
  const { api } = await start(file);
  expect((await api('GET', '/models')).data).toEqual({
    items: [
      {
        provider: 'fake',
        model: 'fake/fake-1',
        display_name: 'One',
        max_context_size: 1000,
        support_efforts: ['low'],
        upgrade: { model: 'fake/fake-2', migration_markdown: 'go' },
      },
      { provider: 'gone', model: 'bare', display_name: 'bare', max_context_size: 0 },
      {
        provider: '127.0.0.1:9',
        model: 'flat:x',
        display_name: 'claude-unknown',
        max_context_size: 5,
        capabilities: ['thinking'],
        support_efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
        default_effort: 'high',
      },
      { provider: 'fake', model: 'broken-upgrade', display_name: 'n', max_context_size: 5 },
    ],
  });
});

it('makes a model the default', async () => {
  const { api } = await start(file);
  const reply = await api('POST', '/models/fake%2Ffake-1:set_default');
  expect(reply.data).toMatchObject({
    default_model: 'fake/fake-1',
    model: { model: 'fake/fake-1', display_name: 'One' },
  });
  expect((await api('POST', '/models/fake%2Ffake-1%3Aset_default', { anything: 1 })).data).toEqual(reply.data);
  expect((await api('GET', '/config')).data).toMatchObject({ default_model: 'fake/fake-1' });
  expect((await api('GET', '/providers/fake')).data).toMatchObject({ default_model: 'fake/fake-1' });
  expect((await api('POST', '/models/flat:x:set_default')).data).toMatchObject({ default_model: 'flat:x' });
  expect((await api('GET', '/auth')).data).toMatchObject({ models_ready: true });
});

it('refuses unknown actions, unknown models and records that cannot be used', async () => {
  const { api } = await start(file);
  expect(await api('POST', '/models/bare:set_fault')).toMatchObject({
    code: 40001,
    details: [{ path: 'model_id', message: expect.stringMatching(/^unsupported action: /) }],
  });
  expect((await api('POST', '/models/:set_default')).code).toBe(40001);
  expect(await api('POST', '/models/f1:set_default')).toMatchObject({ code: 40413, msg: 'model f1 does not exist' });
  expect((await api('POST', '/models/constructor:set_default')).code).toBe(40413);
  const unusable = await api('POST', '/models/bare:set_default');
  expect(unusable).toMatchObject({ code: 40001, msg: 'model bare names provider gone, which is not configured' });
  expect(unusable.details).toBeUndefined();
});
