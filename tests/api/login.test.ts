/** Logins over HTTP with a scripted cloud: codes, polls, provisioning, regions, stored logins. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { parseToml } from '#server/config/document.ts';
import { DEFAULT_KEY, referenceOf, slotKey, slotName } from '#server/account/credential-slots.ts';
import { cloudDuringTest } from '#support/cloud/cloud.ts';
import { createCloudDeviceGrant, oauthError } from '#support/cloud/device-grant.ts';
import { storedToken, storeToken } from '#support/cloud/login.ts';
import { createCloudManagedApi } from '#support/cloud/managed-api.ts';
import { createCloudOAuth } from '#support/cloud/oauth.ts';
import { MANAGED, startLoginServer, type LoginServer } from '#support/cloud/login-server.ts';
import { eventually, until } from '#support/patience.ts';

const PENDING = '/oauth/login';
const documentOf = async (world: LoginServer) => parseToml(await world.config());
const recordOf = (host: string, baseUrl = `${host}/managed/v1`) => {
  const { storage, key, oauthHost } = referenceOf(host, baseUrl);
  return { type: 'native', base_url: baseUrl, api_key: '', oauth: { storage, key, oauth_host: oauthHost } };
};
const tomlOf = (id: string, host: string, baseUrl = `${host}/managed/v1`) => {
  const { key } = referenceOf(host, baseUrl);
  return `[providers."${id}"]
type = "native"
base_url = "${baseUrl}"
oauth = { storage = "file", key = "${key}", oauth_host = "${host}" }
`;
};

describe('a login with a code', () => {
  it('is pending until the user has confirmed it, then the models are listed', async () => {
    const world = await startLoginServer();
    const started = await world.ok('POST', PENDING);
    expect(started).toEqual({
      flow_id: expect.stringMatching(/^oauth_[0-9a-f-]{36}$/),
      provider: MANAGED,
      status: 'pending',
      verification_uri: `${world.cloud.url}/device`,
      verification_uri_complete: `${world.cloud.url}/device?user_code=BCDF-GHJK`,
      user_code: 'BCDF-GHJK',
      expires_in: 900,
      interval: 5,
      expires_at: new Date(world.clock.now() + 900_000).toISOString(),
    });
    expect(await world.flow()).toEqual(started);
    await world.nextPoll();
    await until(() => world.devices.polls.length === 2);
    expect(await world.flow()).toEqual(started);
    expect(await world.token()).toBeUndefined();

    await world.confirm();
    const done = await world.settled('authenticated');
    expect(done).toEqual({
      ...(started as object),
      status: 'authenticated',
      resolved_at: new Date(world.clock.now()).toISOString(),
    });
    expect(await world.token()).toMatchObject({ ...world.devices.tokens[0] });
    expect(await documentOf(world)).toMatchObject({
      providers: { [MANAGED]: recordOf(world.cloud.url) },
      models: { [`${MANAGED}/m1`]: { provider: MANAGED, model: 'm1', max_context_size: 1000 } },
      default_model: `${MANAGED}/m1`,
    });
    expect(await world.ok('GET', '/auth')).toEqual({
      models_ready: true,
      providers_count: 1,
      managed_provider: { name: MANAGED, status: 'authenticated' },
    });
    const [request] = world.cloud.requestsOf('/api/oauth/device_authorization');
    expect(request?.body).toBe('client_id=service-code-local');
    expect(request?.headers).toMatchObject({ 'x-service-platform': 'service_code_cli', accept: 'application/json' });
    world.expectNoSecret();
  });

  it('stays pending while the models are refreshed', async () => {
    const world = await startLoginServer();
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const listing = world.managed.answers['/models'];
    world.managed.answers['/models'] = async () => {
      await held;
      return typeof listing === 'function' ? listing() : listing;
    };
    await world.ok('POST', PENDING);
    await world.confirm();
    await until(() => world.cloud.requestsOf('/managed/v1/models').length === 1);
    expect(await world.flow()).toMatchObject({ status: 'pending' });
    release();
    await world.settled('authenticated');
  });

  test.each<[string, object]>([
    ['with a bad list of models', { body: { data: [{ id: 'm', context_length: 0 }] } }],
    ['without models', { body: { data: [] } }],
    ['whose models are refused', { status: 402, body: { error: { message: 'no membership' } } }],
  ])('%s succeeds and changes no default', async (_what, reply) => {
    const world = await startLoginServer({
      config: '[providers.a]\ntype = "openai"\n[models.x]\nprovider = "a"\nmodel = "x"\n',
    });
    world.managed.answers['/models'] = reply;
    expect(await world.logIn()).not.toHaveProperty('error_message');
    const document = await documentOf(world);
    expect(document).not.toHaveProperty('default_model');
    expect(document).toMatchObject({ providers: { [MANAGED]: recordOf(world.cloud.url) } });
  });

  it('keeps a default model of another provider, and does not write its thinking', async () => {
    const config = `[providers.a]\ntype = "openai"\n[models.x]\nprovider = "a"\nmodel = "x"\nmax_context_size = 10\n`;
    const home = await startLoginServer({ config });
    await writeFile(join(home.home, 'config.toml'), `default_model = "x"\n${await home.config()}`);
    await home.logIn();
    const document = await documentOf(home);
    expect(document).toMatchObject({ default_model: 'x' });
    expect(document).not.toHaveProperty('thinking');
  });

  it('replaces an expired code under the same id', async () => {
    const world = await startLoginServer();
    const first = await world.ok('POST', PENDING);
    world.devices.answerPoll(oauthError('authorization_pending'), oauthError('expired_token'));
    await world.nextPoll();
    const second = await until(async () => {
      const flow = await world.flow();
      return flow.user_code !== 'BCDF-GHJK' && flow;
    });
    expect(second).toEqual({
      ...(first as object),
      user_code: 'BCDF-GHJL',
      verification_uri_complete: `${world.cloud.url}/device?user_code=BCDF-GHJL`,
      expires_at: new Date(world.clock.now() + 900_000).toISOString(),
    });
    await world.confirm();
    await world.settled('authenticated');
    world.expectNoSecret();
  });

  it('shows the interval as issued after slow_down', async () => {
    const world = await startLoginServer();
    world.devices.answerPoll(oauthError('slow_down'));
    await world.ok('POST', PENDING);
    await world.nextPoll(10);
    await until(() => world.devices.polls.length === 2);
    expect(await world.flow()).toMatchObject({ interval: 5, status: 'pending' });
  });

  it('is denied with the text of the cloud, without the code that the cloud quotes', async () => {
    const world = await startLoginServer();
    world.devices.answerPoll(() =>
      Promise.resolve(oauthError('access_denied', `The user said no to ${world.devices.codes[0]}`)),
    );
    await world.ok('POST', PENDING);
    expect(await world.settled('denied')).toMatchObject({
      error_message: 'Authorization denied: The user said no to [redacted]',
      resolved_at: new Date(world.clock.now()).toISOString(),
      user_code: 'BCDF-GHJK',
    });
    expect(await world.ok('DELETE', PENDING)).toEqual({ cancelled: false, status: 'denied' });
    world.expectNoSecret();
    await world.logIn();
  });

  it('expires after 15 minutes', async () => {
    const world = await startLoginServer();
    world.devices.answerPoll('hang');
    await world.ok('POST', PENDING);
    await until(() => world.devices.polls.length === 1);
    world.clock.advance(15 * 60_000 - 1);
    expect(await world.flow()).toMatchObject({ status: 'pending' });
    world.clock.advance(1);
    expect(await world.settled('expired')).toHaveProperty('error_message');
  });

  it('is cancelled by a DELETE: polls stop, and nothing is revoked', async () => {
    const world = await startLoginServer();
    expect(await world.ok('DELETE', PENDING)).toEqual({ cancelled: false, status: 'cancelled' });
    expect(await world.ok('GET', PENDING)).toBeNull();
    await world.ok('POST', PENDING);
    await until(() => world.clock.waits().includes(5000));
    expect(await world.ok('DELETE', PENDING)).toEqual({ cancelled: true, status: 'cancelled' });
    expect(await world.flow()).toMatchObject({ status: 'cancelled', resolved_at: expect.any(String) });
    expect(await world.flow()).not.toHaveProperty('error_message');
    expect(await world.ok('DELETE', PENDING)).toEqual({ cancelled: false, status: 'cancelled' });
    expect(world.clock.waits()).not.toContain(5000);
    expect(world.devices.polls).toHaveLength(1);
    expect(world.oauth.revoked).toEqual([]);
  });

  it('stores no token that arrives after the cancellation', async () => {
    const world = await startLoginServer();
    let release = () => {};
    world.devices.answerPoll(async () => {
      await new Promise<void>((resolve) => (release = resolve));
      return { body: world.oauth.issue() };
    });
    await world.ok('POST', PENDING);
    await until(() => world.devices.polls.length === 1);
    await world.ok('DELETE', PENDING);
    release();
    world.devices.answerCode('hang');
    expect(await world.token()).toBeUndefined();
    expect(await world.config()).not.toContain(MANAGED);
  });

  it('is replaced by another start', async () => {
    const world = await startLoginServer();
    const first = await world.ok('POST', PENDING);
    const second = await world.ok('POST', PENDING);
    expect(second).not.toMatchObject({ flow_id: (first as { flow_id: string }).flow_id });
    expect(await world.flow()).toEqual(second);
    await world.confirm();
    await world.settled('authenticated');
    expect(world.devices.tokens).toHaveLength(1);
  });

  it('of two simultaneous starts, the later one wins', async () => {
    const world = await startLoginServer();
    world.devices.answerCode('hang');
    const first = world.api('POST', PENDING);
    await until(() => world.cloud.requestsOf('/api/oauth/device_authorization').length === 1);
    expect(await world.ok('GET', PENDING)).toBeNull();
    const second = await world.ok('POST', PENDING);
    expect(await first).toMatchObject({ code: 50001, msg: 'The login was replaced by another one.' });
    expect(await world.flow()).toEqual(second);
  });
});

describe('the start', () => {
  test.each<[unknown, string]>([
    [{ region: 'mars' }, 'region'],
    [{ provider: '' }, 'provider'],
    [{ provider: 5 }, 'provider'],
    [{ provider: 'plain' }, 'provider'],
    [{ provider: 'unknown' }, 'provider'],
    [{ provider: '__proto__' }, 'provider'],
  ])('%j is refused', async (body, path) => {
    const { api, cloud } = await startLoginServer({ config: '[providers.plain]\ntype = "openai"\n' });
    expect(await api('POST', PENDING, body)).toMatchObject({ code: 40001, details: [{ path }] });
    expect(cloud.requests).toEqual([]);
  });

  it('refuses a repeated parameter', async () => {
    const { api } = await startLoginServer();
    for (const [method, path] of [
      ['GET', 'login'],
      ['DELETE', 'login'],
      ['GET', 'usage'],
      ['GET', 'userinfo'],
    ] as const) {
      expect(await api(method, `/oauth/${path}?provider=a&provider=b`)).toMatchObject({ code: 40001 });
    }
  });

  it('fails if the cloud refuses a code', async () => {
    const world = await startLoginServer();
    world.devices.answerCode(oauthError('invalid_request', 'not today'));
    expect(await world.api('POST', PENDING)).toMatchObject({
      code: 50001,
      msg: 'Device authorization failed (HTTP 400): not today',
    });
    expect(await world.ok('GET', PENDING)).toBeNull();
    expect(await world.ok('DELETE', PENDING)).toEqual({ cancelled: false, status: 'denied' });
  });

  it('fails if the cloud cannot be reached', async () => {
    const world = await startLoginServer({
      pinned: true,
      variables: { SERVICE_CODE_OAUTH_HOST: 'http://127.0.0.1:9' },
    });
    const reply = await world.api('POST', PENDING);
    expect(reply.code).toBe(50001);
    expect(reply.msg).toMatch(/^Device authorization failed: The login service could not be reached: /);
    expect(await world.ok('GET', PENDING)).toBeNull();
  });

  it('fails after 30 s without an answer', async () => {
    const world = await startLoginServer();
    world.devices.answerCode('hang');
    const reply = world.api('POST', PENDING);
    await until(() => world.cloud.requests.length === 1);
    world.clock.advance(30_000);
    expect(await reply).toMatchObject({ code: 50001 });
  });

  it('refuses an address that no browser may open', async () => {
    const code = { verification_uri_complete: 'javascript:alert(1)' };
    const world = await startLoginServer({ code });
    expect(await world.api('POST', PENDING)).toMatchObject({ code: 50001 });
    expect(world.devices.polls).toEqual([]);
  });

  it('accepts a code without a short address', async () => {
    const world = await startLoginServer({ code: { verification_uri: undefined, interval: undefined } });
    expect(await world.ok('POST', PENDING)).toMatchObject({
      verification_uri: `${world.cloud.url}/device?user_code=BCDF-GHJK`,
      interval: 5,
    });
  });

  it('shows an end for a code that lives for ever', async () => {
    const world = await startLoginServer({ code: { expires_in: 1e300 } });
    expect(await world.ok('POST', PENDING)).toMatchObject({
      expires_in: 1e300,
      expires_at: expect.stringMatching(/Z$/),
    });
  });
});

describe('a stored login', () => {
  it('is authenticated immediately, and has no code', async () => {
    const world = await startLoginServer();
    const { flow_id } = await world.logIn();
    const again = await world.ok('POST', PENDING, {});
    expect(again).toEqual({ flow_id: expect.not.stringMatching(flow_id), provider: MANAGED, status: 'authenticated' });
    expect(await world.ok('GET', PENDING)).toBeNull();
    expect(await world.ok('DELETE', PENDING)).toEqual({ cancelled: false, status: 'authenticated' });
    expect(world.cloud.requestsOf('/api/oauth/device_authorization')).toHaveLength(1);
    expect(world.cloud.requestsOf('/managed/v1/models')).toHaveLength(2);
  });

  it('is provisioned before the reply', async () => {
    const world = await startLoginServer();
    await storeToken(world.home, world.slot, world.oauth.issue(), { now: world.clock.now() });
    expect(await world.ok('POST', PENDING)).toMatchObject({ status: 'authenticated' });
    expect(await documentOf(world)).toMatchObject({
      providers: { [MANAGED]: recordOf(world.cloud.url) },
      default_model: `${MANAGED}/m1`,
    });
  });

  it('whose grant is refused falls back to a code', async () => {
    const world = await startLoginServer();
    await storeToken(world.home, world.slot, world.oauth.issue(), { lifeS: 10, now: world.clock.now() });
    world.oauth.endGrants();
    expect(await world.ok('POST', PENDING)).toMatchObject({ status: 'pending' });
    expect(world.oauth.refreshes).toHaveLength(1);
    world.expectNoSecret();
  });

  it('that cannot be renewed fails the request', async () => {
    const world = await startLoginServer();
    await storeToken(world.home, world.slot, world.oauth.issue(), { lifeS: -10, now: world.clock.now() });
    world.oauth.answerNext({ status: 400, body: { error: 'invalid_request' } });
    expect(await world.api('POST', PENDING)).toMatchObject({ code: 50001 });
    expect(world.devices.codes).toEqual([]);
    expect(await world.ok('DELETE', PENDING)).toEqual({ cancelled: false, status: 'denied' });
  });

  it('whose host hangs fails the request after 30 s', async () => {
    const world = await startLoginServer();
    await storeToken(world.home, world.slot, world.oauth.issue(), { lifeS: -10, now: world.clock.now() });
    world.oauth.answerNext('hang');
    const reply = world.api('POST', PENDING);
    await until(() => world.oauth.refreshes.length === 1);
    world.clock.advance(30_000);
    expect(await reply).toMatchObject({ code: 50001 });
  });
});

describe('changes of the provider by others', () => {
  const edit = async (world: LoginServer, text: string) => {
    await writeFile(join(world.home, 'config.toml'), `${await world.config()}${text}`);
    await world.server.app.config.reload();
  };

  it('cancel a pending login', async () => {
    const world = await startLoginServer();
    await world.ok('POST', PENDING);
    await edit(world, tomlOf(MANAGED, 'http://elsewhere.test'));
    expect(await world.settled('cancelled')).toMatchObject({
      error_message: 'Provider configuration changed during login.',
    });
    expect(world.clock.waits()).not.toContain(5000);
  });

  it('cancel it also when they remove the record', async () => {
    const world = await startLoginServer();
    await edit(world, tomlOf(MANAGED, world.cloud.url));
    await world.ok('POST', PENDING);
    await writeFile(join(world.home, 'config.toml'), `[cloud]\nurl = "${world.cloud.url}"\n`);
    await world.server.app.config.reload();
    await world.settled('cancelled');
  });

  it('of other parts of the configuration do not', async () => {
    const world = await startLoginServer();
    await world.ok('POST', PENDING);
    await edit(world, '[providers.a]\ntype = "openai"\n');
    await world.ok('POST', '/config', { telemetry: false });
    expect(await world.flow()).toMatchObject({ status: 'pending' });
    await world.confirm();
    await world.settled('authenticated');
  });
});

describe('regions', () => {
  async function secondCloud() {
    const oauth = createCloudOAuth();
    const devices = createCloudDeviceGrant(oauth);
    const cloud = await cloudDuringTest(oauth.part, devices.part, createCloudManagedApi(oauth).part);
    return { oauth, devices, cloud };
  }

  it('a login with another one is authenticated, and leaves the other token in its slot', async () => {
    const world = await startLoginServer();
    await world.logIn();
    const { devices, cloud } = await secondCloud();
    await writeFile(
      join(world.home, 'config.toml'),
      (await world.config()).replace(`url = "${world.cloud.url}"`, `url = "${cloud.url}"`),
    );
    await world.server.app.config.reload();
    // Without a region, the stored login is the one to use.
    expect(await world.ok('POST', PENDING)).toMatchObject({ status: 'authenticated' });
    expect(await world.ok('POST', PENDING, { region: 'global' })).toMatchObject({
      status: 'pending',
      verification_uri: `${cloud.url}/device`,
    });
    await world.nextPoll(5, devices.confirm);
    const done = await world.settled('authenticated');
    expect(done).not.toHaveProperty('error_message');
    expect(await documentOf(world)).toMatchObject({ providers: { [MANAGED]: recordOf(cloud.url) } });
    const slot = slotName(slotKey(cloud.url, `${cloud.url}/managed/v1`)) ?? '';
    expect(await storedToken(world.home, slot)).toMatchObject({ ...devices.tokens[0] });
    expect(await world.token()).toMatchObject({ ...world.devices.tokens[0] });
  });

  it('are ignored while the environment sets an address', async () => {
    const world = await startLoginServer({ pinned: true });
    expect(await world.ok('POST', PENDING, { region: 'global' })).toMatchObject({ status: 'pending' });
    await world.confirm();
    await world.settled('authenticated');
    expect(await documentOf(world)).toMatchObject({ providers: { [MANAGED]: recordOf(world.cloud.url) } });
  });

  test.each<[string, string, Record<string, string>, string, string]>([
    ['none', '', {}, '', 'mainland-cn'],
    ['a marker', '', {}, 'global\n', 'global'],
    ['an unknown marker', '', {}, 'Global', 'mainland-cn'],
    ['a marker that is switched off', '', { SERVICE_CODE_REGION_MARKER: 'off' }, 'global', 'mainland-cn'],
    ['the file', '[cloud]\nregion = "global"\n', {}, '', 'global'],
    ['an unknown host of the environment', '', { SERVICE_CODE_OAUTH_HOST: 'http://x' }, 'global', 'mainland-cn'],
    [
      'a login in the default slot',
      `[providers."${MANAGED}"]\ntype = "native"\noauth = { storage = "file", key = "${DEFAULT_KEY}" }\n`,
      {},
      'global',
      'mainland-cn',
    ],
    [
      'the host of the stored login',
      `[providers."${MANAGED}"]\ntype = "native"\noauth = { storage = "file", key = "k", oauth_host = "https://auth.example.com" }\n`,
      {},
      '',
      'global',
    ],
  ])('%s: the current one is resolved without a request', async (_what, config, variables, marker, region) => {
    const world = await startLoginServer({
      pinned: true,
      variables: { SERVICE_CODE_CLOUD_URL: '', ...variables },
      config,
    });
    if (marker) await writeFile(join(world.home, 'region'), marker);
    expect(await world.ok('GET', '/oauth/region')).toEqual({ region });
    expect(world.cloud.requests).toEqual([]);
  });
});

describe('another provider with a login', () => {
  const OTHER = { key: 'oauth/other' };
  const config = (host: string) => `[providers.other]
type = "openai"
base_url = "http://models.test/v1"
oauth = { storage = "file", key = "${OTHER.key}", oauth_host = "${host}" }
`;

  it('has flows of its own, its own slot, and an unchanged record', async () => {
    const oauth = createCloudOAuth();
    const devices = createCloudDeviceGrant(oauth);
    const cloud = await cloudDuringTest(oauth.part, devices.part);
    const world = await startLoginServer({ config: config(cloud.url) });
    await world.ok('POST', PENDING);
    expect(await world.ok('POST', PENDING, { provider: 'other' })).toMatchObject({
      provider: 'other',
      status: 'pending',
    });
    const before = await world.config();
    await until(() => world.clock.waits().filter((ms) => ms === 5000).length === 2);
    devices.confirm();
    world.clock.advance(5000);
    await until(async () => {
      const flow = await world.ok('GET', `${PENDING}?provider=other`);
      return (flow as { status: string }).status === 'authenticated';
    });
    expect(await world.flow()).toMatchObject({ status: 'pending' });
    expect(await storedToken(world.home, 'other')).toMatchObject({ ...devices.tokens[0] });
    expect(await world.config()).toBe(before);
    expect(world.cloud.requestsOf('/managed/v1/models')).toEqual([]);
  });
});

it('two servers of a home: another one is authenticated when the token file is there', async () => {
  const world = await startLoginServer();
  const other = await startLoginServer({
    home: world.home,
    pinned: true,
    variables: { SERVICE_CODE_CLOUD_URL: world.cloud.url },
  });
  await writeFile(join(world.home, 'config.toml'), `[cloud]\nurl = "${world.cloud.url}"\n`);
  await world.server.app.config.reload();
  await world.logIn();
  await other.server.app.config.reload();
  expect(await other.ok('GET', PENDING)).toBeNull();
  await eventually(async () =>
    expect(await other.ok('GET', '/auth')).toMatchObject({ managed_provider: { status: 'authenticated' } }),
  );
});

it('writes no secret into another file of the home', async () => {
  const world = await startLoginServer();
  await world.logIn();
  const { access_token, refresh_token } = world.devices.tokens[0] ?? { access_token: '', refresh_token: '' };
  for (const entry of await readdir(world.home, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || path.includes('credentials')) continue;
    const text = await readFile(path, 'utf8');
    for (const secret of [access_token, refresh_token, ...world.devices.polls]) expect(text).not.toContain(secret);
  }
});
