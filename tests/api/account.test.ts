/** The managed login in sessions: tokens of turns, readiness, status, web services, the cloud that the environment pins. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from '@decimalturn/toml-patch';
import { beforeEach, describe, expect, it, onTestFinished, test } from 'vitest';
import { referenceOf } from '#server/account/credential-slots.ts';
import { startServer } from '#support/server.ts';
import { cloudDuringTest, type Cloud, type CloudPart } from '#support/cloud/cloud.ts';
import { storedToken, storeToken } from '#support/cloud/login.ts';
import { createCloudOAuth, type CloudOAuth, type IssuedToken } from '#support/cloud/oauth.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { callThenText, startTalk } from '#support/talk.ts';
import { until } from '#support/patience.ts';
import { startWorld, type World, type WorldOptions } from '#support/world.ts';
import { testNetwork } from '#support/web-host.ts';

const MANAGED = 'managed:service-code';

let oauth: CloudOAuth;
let cloud: Cloud;
let clock: ManualClock;
let world: World;
/** Name of the login's token file. */
let slot: string;

/** The cloud's services for searches and pages, which need a token. */
const services: CloudPart = ({ path, headers, body }) => {
  if (path !== '/managed/v1/search' && path !== '/managed/v1/fetch') return undefined;
  if (!oauth.accepts(headers)) return { status: 401 };
  if (path.endsWith('fetch')) return { body: `text of ${JSON.parse(body).url as string}` };
  return { body: { search_results: [{ title: 'A wheel', url: 'http://wheel.test/', snippet: 'It turns.' }] } };
};

beforeEach(() => {
  oauth = createCloudOAuth();
  clock = manualClock();
});

const ref = (baseUrl: string) => referenceOf(cloud.url, baseUrl);

/** A world whose model is the managed one of a login at the scripted cloud. */
async function start(options: WorldOptions = {}, base?: (model: string) => string): Promise<World> {
  cloud = await cloudDuringTest(oauth.part, services);
  const started = await startWorld({ clock, env: () => ({}), ...options });
  onTestFinished(() => started.close());
  const baseUrl = base?.(started.model.url) ?? `${started.model.url}/managed/v1`;
  const reference = ref(baseUrl);
  slot = reference.key.slice('oauth/'.length);
  const config = {
    providers: {
      [MANAGED]: {
        type: 'native',
        base_url: baseUrl,
        api_key: '',
        oauth: { storage: reference.storage, key: reference.key, oauth_host: reference.oauthHost },
      },
    },
    models: {
      [`${MANAGED}/m`]: { provider: MANAGED, model: 'm', max_context_size: 262_144, capabilities: ['tool_use'] },
    },
    default_model: `${MANAGED}/m`,
    ...options.config,
  };
  await started.restart(() => writeFile(join(started.server.home, 'config.toml'), stringify(config)));
  started.model.answerBy(({ headers }) =>
    oauth.accepts(headers) ? undefined : { status: 401, error: 'invalid token' },
  );
  world = started;
  return started;
}

async function store(lifeS = 3600): Promise<IssuedToken> {
  const token = oauth.issue();
  await storeToken(world.server.home, slot, token, { lifeS, now: clock.now() });
  return token;
}

const prompt = async () => {
  const session = await world.session();
  return world.api('POST', `/sessions/${session.id}/prompts`, { content: [{ type: 'text', text: 'go' }] });
};

describe('a turn', () => {
  it('obtains the token for each request, and continues when it ends between two', async () => {
    await start();
    const token = await store();
    const talk = await startTalk(world);
    world.model.answerBy(({ headers }) => {
      if (!oauth.accepts(headers)) return { status: 401, error: 'invalid token' };
      // The token of the first request is not accepted any more after it.
      oauth.end(token.access_token);
      return undefined;
    });
    const turn = await talk.turn('go', callThenText('Read', { path: 'a.txt' }));
    expect(turn.ended).toMatchObject({ reason: 'completed' });
    expect(turn.results).toMatchObject([{ isError: false }]);
    expect(world.model.requests.map(({ path }) => path)).toEqual(Array(3).fill('/managed/v1/chat/completions'));
    expect(oauth.refreshes).toEqual([token.refresh_token]);
    const [first, refused, replayed] = world.model.requests.map(({ headers }) => headers.authorization);
    expect(refused).toBe(first);
    expect(replayed).not.toBe(first);
    expect(world.model.requests[2]?.body).toEqual(world.model.requests[1]?.body);
  });

  it('has the complete identity headers', async () => {
    await start();
    await store();
    const talk = await startTalk(world);
    await talk.turn('go', [{ text: 'Done.' }]);
    expect(world.model.requests[0]?.headers).toMatchObject({
      'user-agent': expect.stringMatching(/^service-code-cli\/\S+ \(web\)$/) as string,
      'x-service-platform': 'service_code_cli',
      'x-service-device-id': expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      'x-service-device-name': expect.any(String) as string,
      'x-service-device-model': expect.any(String) as string,
      'x-service-os-version': expect.any(String) as string,
      'x-service-version': expect.any(String) as string,
    });
  });

  it('fails with the second 401', async () => {
    await start();
    await store();
    world.model.answerBy(() => ({ status: 401, error: 'no access' }));
    const talk = await startTalk(world);
    const turn = await talk.turn('go');
    expect(turn.ended).toMatchObject({
      reason: 'failed',
      error: { code: 'provider.auth_error', message: '401 no access' },
    });
    expect(world.model.requests).toHaveLength(2);
    expect(oauth.refreshes).toHaveLength(1);
  });

  it('needs a new login when the renewal is refused', async () => {
    await start();
    const token = await store();
    oauth.end(token.access_token);
    oauth.endGrants();
    const talk = await startTalk(world);
    const turn = await talk.turn('go');
    expect(turn.ended).toMatchObject({ reason: 'failed', error: { code: 'auth.login_required', retryable: false } });
    expect(await prompt()).toMatchObject({ code: 40112, details: { provider_id: MANAGED } });
    expect((await world.api('GET', '/auth')).data).toMatchObject({ managed_provider: { status: 'revoked' } });
  });

  it('of two sessions that are refused spends one refresh token', async () => {
    await start();
    const token = await store();
    oauth.end(token.access_token);
    world.model.answerBy(({ headers }) => (oauth.accepts(headers) ? { text: 'Done.' } : { status: 401, error: 'no' }));
    const talks = await Promise.all([startTalk(world), startTalk(world)]);
    const turns = await Promise.all(talks.map((talk) => talk.turn('go')));
    expect(turns.map(({ ended }) => ended.reason)).toEqual(['completed', 'completed']);
    expect(world.model.requests.length).toBeLessThanOrEqual(4);
    expect(oauth.refreshes).toEqual([token.refresh_token]);
  });

  it('fails with the cause when the OAuth host fails', async () => {
    await start();
    await store(-10);
    oauth.answerNext({ status: 400, body: { error: 'invalid_request', error_description: 'not now' } });
    const talk = await startTalk(world);
    const turn = await talk.turn('go');
    expect(turn.ended).toMatchObject({
      reason: 'failed',
      error: { code: 'provider.connection_error', message: 'The login could not be renewed: not now' },
    });
    // Readiness and the turn share the failure: the renewal is not attempted again within 30 s.
    expect(oauth.refreshes).toHaveLength(1);
    expect(world.model.requests).toEqual([]);
  });
});

describe('readiness', () => {
  it('is 40111 without a token, 40112 with a tombstone', async () => {
    await start();
    expect(await prompt()).toMatchObject({ code: 40111, details: { provider_id: MANAGED } });
    await storeToken(world.server.home, slot, { ...oauth.issue(), access_token: '' });
    expect(await prompt()).toMatchObject({ code: 40112, details: { provider_id: MANAGED } });
    expect(oauth.refreshes).toEqual([]);
  });

  it('is 40112 when the renewal is refused', async () => {
    await start();
    await store(-10);
    oauth.endGrants();
    expect(await prompt()).toMatchObject({ code: 40112, details: { provider_id: MANAGED } });
    expect(await storedToken(world.server.home, slot)).toMatchObject({ access_token: '', refresh_token: '' });
  });

  it('renews a token that is due', async () => {
    await start();
    const token = await store(100);
    world.model.enqueue({ text: 'Done.' });
    expect(await prompt()).toMatchObject({ code: 0 });
    expect(oauth.refreshes).toEqual([token.refresh_token]);
  });

  it('waits at most 10 s for an OAuth host that hangs', async () => {
    await start();
    await store(-10);
    oauth.answerNext('hang', 'hang', 'hang');
    const submitted = prompt();
    await until(() => oauth.refreshes.length === 1 && clock.waits().includes(10_000));
    clock.advance(10_000);
    expect(await submitted).toMatchObject({ code: 0 });
    expect(oauth.refreshes).toHaveLength(1);
  });
});

test('two servers of a home that renew at the same time spend one refresh token', async () => {
  await start();
  const token = await store(100);
  const other = await startServer({ home: world.server.home, clock, env: () => ({}) });
  onTestFinished(() => other.close());
  world.model.answerBy(() => ({ text: 'Done.' }));
  const sessions = await Promise.all([world.session(), world.session()]);
  const replies = await Promise.all(
    [world.server, other].map(({ api }, index) =>
      api('POST', `/sessions/${sessions[index]?.id}/prompts`, { content: [{ type: 'text', text: 'go' }] }),
    ),
  );
  expect(replies.map(({ code }) => code)).toEqual([0, 0]);
  expect(oauth.refreshes).toEqual([token.refresh_token]);
});

describe('web services of the login', () => {
  const search = callThenText('WebSearch', { query: 'wheels' });

  it('are derived from its address, and replay a request after a 401', async () => {
    await start({ network: testNetwork }, () => `${cloud.url}/managed/v1`);
    const token = await store();
    world.model.answerBy(() => undefined);
    // The model is not at the cloud here.
    await configureModelAt(world.model.url);
    oauth.end(token.access_token);
    const talk = await startTalk(world);
    const turn = await talk.turn('go', search);
    expect(turn.results).toMatchObject([{ isError: false, output: expect.stringContaining('A wheel') as string }]);
    const requests = cloud.requestsOf('/managed/v1/search');
    expect(requests).toHaveLength(2);
    expect(requests[1]?.headers).toMatchObject({
      'x-service-device-id': expect.any(String) as string,
      'x-service-tool-call-id': expect.any(String) as string,
    });
    expect(oauth.refreshes).toEqual([token.refresh_token]);
    const fetched = await talk.turn('go', callThenText('FetchURL', { url: 'http://site.test/' }));
    expect(fetched.results).toMatchObject([{ output: expect.stringContaining('text of http://site.test/') as string }]);
  });

  it('report a missing login', async () => {
    await start({ network: testNetwork }, () => `${cloud.url}/managed/v1`);
    await configureModelAt(world.model.url);
    world.model.answerBy(() => undefined);
    const talk = await startTalk(world);
    const turn = await talk.turn('go', search);
    expect(turn.results).toMatchObject([{ isError: true, output: expect.stringContaining('log in') as string }]);
    expect(cloud.requests).toEqual([]);
  });

  /** Adds a model with a key of its own as the default one. */
  async function configureModelAt(url: string): Promise<void> {
    await world.ok('POST', '/providers', {
      id: 'keyed',
      type: 'native',
      base_url: `${url}/v1`,
      api_key: 'k',
      models: [{ model: 'n', max_context_size: 262_144, capabilities: ['tool_use'] }],
    });
    await world.ok('POST', '/models/keyed%2Fn:set_default');
  }
});

describe('a cloud that the environment pins', () => {
  it('gets the requests with its own token instead of the stored one', async () => {
    const env: NodeJS.ProcessEnv = {};
    await start({ env: () => env });
    const stored = await store();
    const pinned = `${world.model.url}/pinned/managed/v1`;
    const own = oauth.issue();
    const name = referenceOf(`${world.model.url}/pinned`, pinned).key.slice('oauth/'.length);
    await storeToken(world.server.home, name, own, { now: clock.now() });
    await world.restart(async () => void (env.SERVICE_CODE_CLOUD_URL = `${world.model.url}/pinned/`));
    const talk = await startTalk(world);
    await talk.turn('go', [{ text: 'Done.' }]);
    expect(world.model.requests).toMatchObject([
      { path: '/pinned/managed/v1/chat/completions', headers: { authorization: `Bearer ${own.access_token}` } },
    ]);
    expect(JSON.stringify(world.model.requests)).not.toContain(stored.access_token);
    expect((await world.api('GET', '/auth')).data).toMatchObject({ managed_provider: { status: 'authenticated' } });
  });
});

describe('the status of the login', () => {
  it.each<[string, Record<string, unknown> | undefined, string, string]>([
    ['no file', undefined, 'unauthenticated', 'unconfigured'],
    ['a token', { access_token: 'a', refresh_token: 'r', expires_at: 9e9 }, 'authenticated', 'connected'],
    [
      'a token that can be renewed',
      { access_token: 'a', refresh_token: 'r', expires_at: 1 },
      'authenticated',
      'connected',
    ],
    ['a token of unknown life', { access_token: 'a', expires_at: 0 }, 'authenticated', 'connected'],
    ['a token that cannot be renewed', { access_token: 'a', refresh_token: '', expires_at: 1 }, 'expired', 'connected'],
    ['a tombstone', { access_token: '', refresh_token: '', expires_at: 0 }, 'revoked', 'unconfigured'],
  ])('with %s', async (_what, token, status, provider) => {
    await start();
    if (token) {
      await mkdir(join(world.server.home, 'credentials'), { recursive: true });
      await writeFile(join(world.server.home, 'credentials', `${slot}.json`), JSON.stringify(token));
    }
    expect((await world.api('GET', '/auth')).data).toMatchObject({ managed_provider: { name: MANAGED, status } });
    expect((await world.api('GET', '/providers/managed%3Aservice-code')).data).toMatchObject({ status: provider });
    expect(cloud.requests).toEqual([]);
  });

  it('is read without a readable folder of credentials', async () => {
    await start();
    await writeFile(join(world.server.home, 'credentials'), 'no folder');
    expect((await world.api('GET', '/auth')).data).toMatchObject({ managed_provider: { status: 'unauthenticated' } });
  });
});

describe('the default catalog of plugins', () => {
  const marketplace = () => world.api('GET', '/plugins/marketplace');

  it('is part of the cloud that the environment pins', async () => {
    const env: NodeJS.ProcessEnv = {};
    await start({ env: () => env });
    env.SERVICE_CODE_CLOUD_URL = cloud.url;
    expect(await marketplace()).toMatchObject({ code: 50001 });
    expect(cloud.requests).toMatchObject([{ method: 'GET', path: '/cdn/plugins/marketplace.json' }]);
  });

  it('is not requested from a placeholder', async () => {
    await start();
    expect(await marketplace()).toMatchObject({
      code: 50001,
      msg: 'Plugin marketplace is unreachable: no catalog is configured',
    });
  });

  it('is the one of `[cloud]`, which only the raw configuration has', async () => {
    await start();
    await writeFile(join(world.server.home, 'config.toml'), stringify({ cloud: { url: `${cloud.url}/` } }));
    await world.restart();
    expect(await marketplace()).toMatchObject({ code: 50001 });
    expect(cloud.requests).toMatchObject([{ path: '/cdn/plugins/marketplace.json' }]);
    const { raw, ...rest } = (await world.ok('GET', '/config')) as { raw: object };
    expect(raw).toMatchObject({ cloud: { url: `${cloud.url}/` } });
    expect(JSON.stringify(rest)).not.toContain(cloud.url);
  });
});
