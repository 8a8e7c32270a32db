/** Logouts over HTTP: order, configuration, the grant, concurrent renewals and logins; usage and user information. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { parseToml } from '#server/config/document.ts';
import { startLoginServer, MANAGED } from '#support/cloud/login-server.ts';
import { storedToken, storeToken, tokenPath } from '#support/cloud/login.ts';
import { until } from '#support/patience.ts';

const LOGOUT = '/oauth/logout';
const OTHER = `default_provider = "other"
[providers.other]
type = "openai"
base_url = "http://127.0.0.1:9/v1"
oauth = { storage = "file", key = "oauth/other" }
[providers.plain]
type = "openai"
[models.o]
provider = "other"
model = "o"
max_context_size = 10
[models.p]
provider = "plain"
model = "p"
max_context_size = 10
`;

describe('a logout', () => {
  it('removes the token, the provider, its models, services and defaults, and revokes the grant', async () => {
    const world = await startLoginServer();
    await writeFile(
      join(world.home, 'config.toml'),
      `default_provider = "${MANAGED}" # mine\n${await world.config()}[providers.plain]\ntype = "openai"\n` +
        `[models.p]\nprovider = "plain"\nmodel = "p"\nmax_context_size = 10\n` +
        `[secondary_model.models]\np = "a"\n"${MANAGED}/m1" = "b"\n`,
    );
    await world.server.app.config.reload();
    await world.logIn();
    const before = parseToml(await world.config());
    expect(before).toMatchObject({ default_model: `${MANAGED}/m1`, thinking: { enabled: true } });
    expect(before).toHaveProperty('services.search');

    expect(await world.ok('POST', LOGOUT)).toEqual({ logged_out: true, provider: MANAGED });
    expect(parseToml(await world.config())).toEqual({
      cloud: { url: world.cloud.url },
      providers: { plain: { type: 'openai' } },
      models: { p: { provider: 'plain', model: 'p', max_context_size: 10 } },
      secondary_model: { models: { p: 'a' } },
    });
    expect(await world.token()).toBeUndefined();
    await until(() => world.oauth.revoked.length === 1);
    expect(world.oauth.revoked).toEqual([world.devices.tokens[0]?.refresh_token]);
    expect(world.cloud.requestsOf('/api/oauth/revoke')[0]?.body).toContain('token_type_hint=refresh_token');
    expect(await world.ok('GET', '/auth')).toMatchObject({ managed_provider: null });
    world.expectNoSecret();
    // The next login needs a code.
    expect(await world.ok('POST', '/oauth/login')).toMatchObject({ status: 'pending' });
  });

  it('keeps defaults and services of others', async () => {
    const world = await startLoginServer({ config: `${OTHER}[services.search]\nbase_url = "http://s"\n` });
    await writeFile(join(world.home, 'config.toml'), `default_model = "p"\n${await world.config()}`);
    await world.logIn();
    await world.ok('POST', LOGOUT, {});
    expect(parseToml(await world.config())).toMatchObject({
      default_model: 'p',
      services: { search: { base_url: 'http://s' } },
      providers: { other: {}, plain: {} },
    });
  });

  test.each([MANAGED, 'plain', 'unknown', '__proto__'])('of %s without a login changes nothing', async (provider) => {
    const world = await startLoginServer({ config: OTHER });
    const before = await world.config();
    expect(await world.ok('POST', LOGOUT, { provider })).toEqual({ logged_out: true, provider });
    expect(await world.ok('POST', LOGOUT, { provider })).toEqual({ logged_out: true, provider });
    expect(await world.config()).toBe(before);
    expect(world.cloud.requests).toEqual([]);
  });

  it('never removes a managed provider that has a key instead of a login', async () => {
    const world = await startLoginServer({ config: `[providers."${MANAGED}"]\ntype = "native"\napi_key = "k"\n` });
    await world.ok('POST', LOGOUT);
    expect(await world.config()).toContain(MANAGED);
  });

  it('of another provider removes its token and records, and revokes nothing', async () => {
    const world = await startLoginServer();
    await writeFile(join(world.home, 'config.toml'), `default_model = "o"\n${OTHER}`);
    await world.server.app.config.reload();
    await storeToken(world.home, 'other', world.oauth.issue());
    await world.ok('POST', LOGOUT, { provider: 'other' });
    expect(parseToml(await world.config())).toEqual({
      providers: { plain: { type: 'openai' } },
      models: { p: { provider: 'plain', model: 'p', max_context_size: 10 } },
    });
    expect(await storedToken(world.home, 'other')).toBeUndefined();
    expect(world.cloud.requests).toEqual([]);
  });

  it('leaves no file when a renewal runs, and does not wait for it', async () => {
    const world = await startLoginServer();
    await world.logIn();
    world.clock.advance(3_000_000);
    let release = () => {};
    world.oauth.answerNext(async () => {
      await new Promise<void>((resolve) => (release = resolve));
      return { body: world.oauth.issue() };
    });
    const usage = world.ok('GET', '/oauth/usage');
    await until(() => world.oauth.refreshes.length === 1);
    await world.ok('POST', LOGOUT);
    expect(await world.token()).toBeUndefined();
    release();
    expect(await usage).toMatchObject({ kind: 'error' });
    expect(await world.token()).toBeUndefined();
    await until(() => world.oauth.revoked.length === 1);
  });

  it('ends a pending login, whose token is not stored', async () => {
    const world = await startLoginServer();
    let release = () => {};
    world.devices.answerPoll(async () => {
      await new Promise<void>((resolve) => (release = resolve));
      return { body: world.oauth.issue() };
    });
    await world.ok('POST', '/oauth/login');
    await until(() => world.devices.polls.length === 1);
    await world.ok('POST', LOGOUT);
    expect(await world.flow()).toMatchObject({ status: 'cancelled' });
    release();
    // Writes of logins and logouts are serialized: after a second logout, an earlier one would have been visible.
    await world.ok('POST', LOGOUT);
    expect(await world.token()).toBeUndefined();
    expect(await world.config()).not.toContain(MANAGED);
  });

  it('replies although the cloud does not answer the revocation', async () => {
    const world = await startLoginServer();
    await world.logIn();
    world.oauth.hangRevocations();
    expect(await world.ok('POST', LOGOUT)).toMatchObject({ logged_out: true });
    await until(() => world.clock.waits().includes(3000));
    world.clock.advance(3000);
  });

  it('fails with everything intact if the token file cannot be removed', async () => {
    const world = await startLoginServer();
    await world.logIn();
    const path = tokenPath(world.home, world.slot);
    await rm(path);
    await mkdir(join(path, 'x'), { recursive: true });
    const before = await world.config();
    expect(await world.api('POST', LOGOUT)).toMatchObject({ code: 50001 });
    expect(await world.config()).toBe(before);
    expect(world.oauth.revoked).toEqual([]);
  });

  it('without a readable configuration fails, but the token is removed and revoked', async () => {
    const world = await startLoginServer();
    await world.logIn();
    await writeFile(join(world.home, 'config.toml'), 'broken = [');
    await world.server.app.config.reload();
    expect(await world.api('POST', LOGOUT)).toMatchObject({ code: 50003 });
    expect(await world.token()).toBeUndefined();
    await until(() => world.oauth.revoked.length === 1);
  });
});

describe.each([
  ['/oauth/usage', '/usages', { quota: { usages: {}, extraUsage: null } }],
  ['/oauth/userinfo', '/me', { userInfo: { userId: 'u1' } }],
] as const)('%s', (path, resource, data) => {
  it('is that of the cloud', async () => {
    const world = await startLoginServer();
    await world.logIn();
    expect(await world.ok('GET', path)).toMatchObject({ kind: 'ok', ...data });
    const [request] = world.cloud.requestsOf(`/managed/v1${resource}`);
    expect(request?.headers).toMatchObject({ accept: 'application/json', 'x-service-platform': 'service_code_cli' });
  });

  test.each(['', '?provider=unknown', '?provider=other'])('without a login is an error: %s', async (query) => {
    const world = await startLoginServer({ config: OTHER });
    expect(await world.ok('GET', `${path}${query}`)).toEqual({
      kind: 'error',
      message: expect.stringMatching(/log in/),
    });
    expect(world.cloud.requests).toEqual([]);
  });

  it('is requested again after one forced renewal', async () => {
    const world = await startLoginServer();
    await world.logIn();
    world.oauth.end(world.devices.tokens[0]?.access_token ?? '');
    expect(await world.ok('GET', path)).toMatchObject({ kind: 'ok' });
    expect(world.cloud.requestsOf(`/managed/v1${resource}`)).toHaveLength(2);
    expect(world.oauth.refreshes).toHaveLength(1);
  });

  it('is an error after a second 401, without the token that the cloud quotes', async () => {
    const world = await startLoginServer();
    await world.logIn();
    world.oauth.acceptNothing();
    expect(await world.ok('GET', path)).toEqual({
      kind: 'error',
      message: 'Not accepted: Bearer [redacted]',
      status: 401,
    });
    expect(world.cloud.requestsOf(`/managed/v1${resource}`)).toHaveLength(2);
    world.expectNoSecret();
  });

  it('is an error after a refused grant', async () => {
    const world = await startLoginServer();
    await world.logIn();
    world.oauth.acceptNothing();
    world.oauth.endGrants();
    expect(await world.ok('GET', path)).toMatchObject({ kind: 'error', message: expect.stringMatching(/log in/) });
    expect(await world.ok('GET', '/auth')).toMatchObject({ managed_provider: { status: 'revoked' } });
  });

  test.each<[string, object, object]>([
    ['another status', { status: 500, body: { detail: 'broken' } }, { message: 'broken', status: 500 }],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:9/' } }, { status: 302 }],
    ['a text', { body: 'hello' }, { status: 200 }],
    ['a list', { body: [] }, { status: 200 }],
    ['a large body', { body: 'x'.repeat(300_000) }, {}],
  ])('is an error for %s', async (_what, answer, expected) => {
    const world = await startLoginServer();
    await world.logIn();
    world.managed.answers[resource] = answer;
    expect(await world.ok('GET', path)).toMatchObject({ kind: 'error', message: expect.any(String), ...expected });
  });

  it('is an error after 8 s', async () => {
    const world = await startLoginServer();
    await world.logIn();
    world.managed.answers[resource] = 'hang';
    const reply = world.ok('GET', path);
    await until(() => world.cloud.requestsOf(`/managed/v1${resource}`).length === 1);
    world.clock.advance(8000);
    expect(await reply).toEqual({ kind: 'error', message: 'The cloud could not be reached: no answer within 8 s' });
  });
});
