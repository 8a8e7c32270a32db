/** From an empty home to a phone, as a user: directory, login, a managed model, a title, remote control, logout. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { launchBrowser } from '#support/browser.ts';
import { cloudDuringTest, type CloudPart } from '#support/cloud/cloud.ts';
import { createCloudDeviceGrant } from '#support/cloud/device-grant.ts';
import { createCloudManagedApi } from '#support/cloud/managed-api.ts';
import { createCloudOAuth, type CloudOAuth } from '#support/cloud/oauth.ts';
import { relayDuringTest } from '#support/cloud/relay.ts';
import { PATIENCE_MS, until } from '#support/patience.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

/** The managed model: replies with the given texts in turn, to requests with an accepted token. */
function modelOf(oauth: CloudOAuth, texts: string[]): CloudPart {
  return ({ path, headers }) => {
    if (path !== '/managed/v1/chat/completions') return undefined;
    if (!oauth.accepts(headers)) return { status: 401, body: { error: 'invalid_token' } };
    const chunks = [
      { choices: [{ index: 0, delta: { role: 'assistant', content: texts.shift() ?? '' } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { prompt_tokens: 3, completion_tokens: 2 } },
    ];
    const events = [...chunks.map((chunk) => JSON.stringify({ id: 'c1', ...chunk })), '[DONE]'];
    return {
      headers: { 'content-type': 'text/event-stream' },
      body: events.map((event) => `data: ${event}\n\n`).join(''),
    };
  };
}

/** All files of the home that contain one of the texts. */
async function filesWith(home: string, texts: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(home, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const content = await readFile(path, 'latin1');
    if (texts.some((text) => content.includes(text))) found.push(path.slice(home.length + 1));
  }
  return found;
}

const idSchema = z.object({ id: z.string() });
const catalogSchema = z.array(z.object({ id: z.string(), models: z.array(z.object({ id: z.string() })) }));

it('a user adds a provider, logs in, works, continues on a phone, and logs out', async () => {
  const oauth = createCloudOAuth();
  const devices = createCloudDeviceGrant(oauth, { interval: 1 });
  const managed = createCloudManagedApi(oauth);
  managed.answers['/models'] = { body: { data: [{ id: 'm1', context_length: 100_000 }] } };
  const cloud = await cloudDuringTest(
    oauth.part,
    devices.part,
    managed.part,
    modelOf(oauth, ['Hello from the cloud.', 'Hello again.']),
  );
  const relay = await relayDuringTest({ accepts: oauth.accepts });
  const home = await temporaryDirectory();
  const server: SpawnedServer = await spawnServer({
    home,
    args: ['--log-level', 'debug'],
    env: {
      ...process.env,
      SERVICE_CODE_CLOUD_URL: cloud.url,
      SERVICE_CODE_REMOTE_HOST: relay.url,
      // No network: nothing listens on this port.
      SERVICE_CODE_MODEL_DIRECTORY_URL: 'http://127.0.0.1:9/api.json',
    },
  });
  onTestFinished(server.close);
  const ok = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const { code, msg, data } = await server.api(method, path, body);
    expect(`${path}: ${code} ${msg}`).toBe(`${path}: 0 success`);
    return data;
  };

  // A provider of the public list, without a network.
  const { items } = z.object({ items: catalogSchema }).parse(await ok('GET', '/catalog/providers'));
  const entry = items.find(({ id }) => id === 'anthropic');
  expect(entry?.models.length).toBeGreaterThan(3);
  const key = 'sk-of-the-user-4711';
  await ok('POST', '/providers:import_catalog', { catalog_id: 'anthropic', api_key: key });
  expect(await ok('GET', '/auth')).toMatchObject({ models_ready: true, managed_provider: null });

  // A login with a code.
  expect(await ok('POST', '/oauth/login', {})).toMatchObject({ status: 'pending' });
  devices.confirm();
  await until(async () => JSON.stringify(await ok('GET', '/oauth/login')).includes('"authenticated"'), 'the login');
  expect(JSON.stringify(await ok('GET', '/models'))).toContain('managed:service-code/m1');

  // A turn with a model of the login, and a title.
  await ok('POST', `/models/${encodeURIComponent('managed:service-code/m1')}:set_default`);
  const { id } = idSchema.parse(await ok('POST', '/sessions', { metadata: { cwd: home } }));
  const prompt = (text: string) => ok('POST', `/sessions/${id}/prompts`, { content: [{ type: 'text', text }] });
  const said = async (text: string) => JSON.stringify(await ok('GET', `/sessions/${id}/messages`)).includes(text);
  await prompt('Hello');
  await until(() => said('Hello from the cloud.'), 'the reply');
  await ok('POST', '/config', { experimental: { auto_session_title: true } });
  await ok('POST', `/sessions/${id}/title/generate`, {});
  expect(await ok('GET', `/sessions/${id}`)).toMatchObject({ title: 'A title' });

  // The same session on a phone.
  const status = z.object({ state: z.string(), url: z.string() });
  const { url } = status.parse(await ok('POST', '/remote-control', { enabled: true }));
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const phone: Page = await browser.newPage({ viewport: { width: 390, height: 800 } });
  phone.setDefaultTimeout(PATIENCE_MS);
  const { origin, pathname } = new URL(url);
  await phone.goto(`${origin}${pathname}sessions/${id}?rc=1#token=${server.token}`);
  await phone.getByText('Hello from the cloud.').waitFor();

  // The network is away during the next turn; the phone continues automatically.
  await relay.kill();
  await prompt('Again');
  await until(() => said('Hello again.'), 'the second reply');
  await until(async () => JSON.stringify(await ok('GET', '/remote-control')).includes('"starting"'), 'the failure');
  await relay.restart();
  await phone.getByText('Hello again.').waitFor();

  // Nothing wrote a token, a code or a key but the files that are made for them.
  const tokens = devices.tokens.flatMap(({ access_token, refresh_token }) => [access_token, refresh_token]);
  const secrets = [...tokens, key, ...devices.codes, ...relay.secrets];
  // A session of the cloud, and a ticket for each connection.
  expect(relay.secrets.length).toBeGreaterThan(2);
  const files = await filesWith(home, secrets);
  expect(files.filter((path) => !/^(credentials\/[^/]+\.json|config\.toml)$/.test(path))).toEqual([]);
  for (const secret of [...secrets, server.token]) expect(server.output().split('#token=')[0]).not.toContain(secret);

  expect(await ok('POST', '/oauth/logout', {})).toMatchObject({ logged_out: true });
  await until(() => oauth.revoked.length === 1, 'the revocation');
  await until(
    async () => JSON.stringify(await ok('GET', '/remote-control')).includes('"off"'),
    'the end of the tunnel',
  );
  expect(JSON.stringify(await ok('GET', '/models'))).not.toContain('managed:service-code');
});
