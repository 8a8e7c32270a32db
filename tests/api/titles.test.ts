/** Generated titles over HTTP: the order of checks, the three sources, concurrent calls, custom titles. */
import { beforeEach, describe, expect, it, onTestFinished, test } from 'vitest';
import { slotKey, slotName } from '#server/account/credential-slots.ts';
import { cloudDuringTest, type Cloud } from '#support/cloud/cloud.ts';
import { storeToken } from '#support/cloud/login.ts';
import { createCloudManagedApi, type CloudManagedApi } from '#support/cloud/managed-api.ts';
import { createCloudOAuth, type CloudOAuth, type IssuedToken } from '#support/cloud/oauth.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { until } from '#support/patience.ts';
import { startTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let oauth: CloudOAuth;
let managed: CloudManagedApi;
let cloud: Cloud;
let clock: ManualClock;
let world: World;
let token: IssuedToken;

interface Setup {
  flag?: boolean;
  config?: Record<string, unknown>;
  isLoggedIn?: boolean;
}

async function start({ flag = true, config = {}, isLoggedIn = true }: Setup = {}): Promise<Talk> {
  const env = {
    SERVICE_CODE_CLOUD_URL: cloud.url,
    SERVICE_CODE_CUSTOM_HEADERS: 'X-Extra: yes\nX-Service-Platform: no',
    ...(flag && { SERVICE_CODE_EXPERIMENTAL_AUTO_SESSION_TITLE: '1' }),
  };
  world = await startWorld({ clock, config, env: () => env });
  onTestFinished(() => world.close());
  if (isLoggedIn) {
    const slot = slotName(slotKey(cloud.url, `${cloud.url}/managed/v1`)) ?? '';
    token = oauth.issue();
    await storeToken(world.server.home, slot, token, { now: clock.now() });
    await world.ok('POST', '/oauth/login');
  }
  return startTalk(world);
}

beforeEach(async () => {
  oauth = createCloudOAuth();
  managed = createCloudManagedApi(oauth);
  cloud = await cloudDuringTest(oauth.part, managed.part);
  clock = manualClock();
});

const generate = (talk: Talk, body?: object) => world.api('POST', `${talk.path}/title/generate`, body);
const requests = () => cloud.requestsOf('/managed/v1/tools');
const inputs = () =>
  requests().map(({ body }) => (JSON.parse(body) as { params: { chat_content: string } }).params.chat_content);
const titleOf = async (talk: Talk) => ((await world.ok('GET', talk.path)) as { title: string }).title;
const UNAVAILABLE = { code: 40923, data: null };

it('is stored, published, and no turn', async () => {
  const talk = await start();
  await talk.turn('hello   world', [{ text: 'Hi.' }]);
  const before = await world.ok('GET', `${talk.path}/status`);
  expect(await generate(talk)).toMatchObject({ code: 0, data: { title: 'A title' } });
  expect(await titleOf(talk)).toBe('A title');
  const changed = await talk.nth('session.meta.updated', 2);
  expect(changed.payload).toMatchObject({ title: 'A title', patch: { title: 'A title', isCustomTitle: false } });
  expect(changed.payload).not.toHaveProperty('patch.lastPrompt');
  expect(await world.ok('GET', `${talk.path}/status`)).toEqual(before);
  const [request] = requests();
  expect(request?.body).toBe(JSON.stringify({ method: 'chat_title', params: { chat_content: 'user: hello world' } }));
  expect(request?.headers).toMatchObject({
    authorization: `Bearer ${token.access_token}`,
    'x-extra': 'yes',
    'x-service-platform': 'service_code_cli',
  });

  // A generated title is replaced by force only.
  expect(await generate(talk)).toMatchObject(UNAVAILABLE);
  expect(requests()).toHaveLength(1);
  managed.answers['/tools'] = { body: { title: `  ${'x'.repeat(300)}` } };
  expect(await generate(talk, { force: true })).toMatchObject({ data: { title: 'x'.repeat(200) } });
});

describe('is unavailable', () => {
  test.each([
    ['without the flag', {}],
    ['with the setting of that name for clients', { auto_session_title: true }],
    ['with the flag switched off in the file', { experimental: { auto_session_title: false } }],
  ])('%s', async (_what, config) => {
    const talk = await start({ flag: false, config });
    await talk.turn('hello', [{ text: 'Hi.' }]);
    const reply = await generate(talk, { force: true });
    expect(reply).toMatchObject(UNAVAILABLE);
    expect(reply.msg).toMatch(/auto_session_title/);
    expect(requests()).toEqual([]);
  });

  it('with a custom title, unless forced', async () => {
    const talk = await start();
    await talk.turn('hello', [{ text: 'Hi.' }]);
    await world.ok('POST', `${talk.path}/profile`, { title: 'Mine' });
    expect(await generate(talk)).toMatchObject(UNAVAILABLE);
    expect(requests()).toEqual([]);
    expect(await generate(talk, { force: true })).toMatchObject({ data: { title: 'A title' } });
  });

  it('if the title became a custom one during the request', async () => {
    const talk = await start();
    await talk.turn('hello', [{ text: 'Hi.' }]);
    managed.answers['/tools'] = async () => {
      await world.ok('POST', `${talk.path}/profile`, { title: 'Mine' });
      return { body: { title: 'Theirs' } };
    };
    expect(await generate(talk)).toMatchObject(UNAVAILABLE);
    expect(await titleOf(talk)).toBe('Mine');
  });

  it('without a prompt', async () => {
    expect(await generate(await start())).toMatchObject(UNAVAILABLE);
    expect(requests()).toEqual([]);
  });

  it('without a login', async () => {
    const talk = await start({ isLoggedIn: false });
    await talk.turn('hello', [{ text: 'Hi.' }]);
    expect(await generate(talk)).toMatchObject(UNAVAILABLE);
    expect(cloud.requests).toEqual([]);
  });

  test.each<[string, object]>([
    ['fails', { status: 500, body: {} }],
    ['sends a blank title', { body: { title: ' \n' } }],
    ['sends no title', { body: {} }],
    ['sends no JSON', { body: 'A title' }],
  ])('if the cloud %s', async (_what, answer) => {
    const talk = await start();
    await talk.turn('hello', [{ text: 'Hi.' }]);
    managed.answers['/tools'] = answer;
    expect(await generate(talk)).toMatchObject(UNAVAILABLE);
    expect(await titleOf(talk)).toBe('hello');
  });

  it('if the cloud does not answer within 8 s', async () => {
    const talk = await start();
    await talk.turn('hello', [{ text: 'Hi.' }]);
    managed.answers['/tools'] = 'hang';
    const reply = generate(talk);
    await until(() => requests().length === 1);
    clock.advance(8000);
    expect(await reply).toMatchObject(UNAVAILABLE);
  });

  it('after other errors', async () => {
    const talk = await start();
    expect(await generate(talk, { source: 'all' })).toMatchObject({ code: 40001, details: [{ path: 'source' }] });
    expect(await world.api('POST', '/sessions/unknown/title/generate', { force: 1 })).toMatchObject({ code: 40001 });
    expect(await world.api('POST', '/sessions/unknown/title/generate')).toMatchObject({ code: 40401 });
  });
});

it('is requested again after one forced renewal', async () => {
  const talk = await start();
  await talk.turn('hello', [{ text: 'Hi.' }]);
  oauth.end(token.access_token);
  expect(await generate(talk)).toMatchObject({ code: 0 });
  expect(requests()).toHaveLength(2);
  expect(oauth.refreshes).toHaveLength(1);
});

it('is requested a single time by concurrent calls, other than forced ones', async () => {
  const talk = await start();
  await talk.turn('hello', [{ text: 'Hi.' }]);
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  managed.answers['/tools'] = async () => {
    await held;
    return { body: { title: 'Shared' } };
  };
  const calls = [generate(talk), generate(talk), generate(talk, { source: 'digest' })];
  await until(() => requests().length === 1);
  const forced = generate(talk, { force: true });
  await until(() => requests().length === 2);
  release();
  for (const reply of await Promise.all([...calls, forced])) {
    expect(reply).toMatchObject({ data: { title: 'Shared' } });
  }
  expect(requests()).toHaveLength(2);
});

describe('the input', () => {
  it('of prompts is the first three, 400 characters each and 1000 in all, without secrets', async () => {
    const talk = await start();
    for (const text of [`password=hunter2 ${'a '.repeat(300)}`, 'b '.repeat(300), 'c '.repeat(300), 'fourth']) {
      await talk.turn(text, [{ text: 'Hi.' }]);
    }
    await generate(talk);
    const [input = ''] = inputs();
    const lines = input.split('\n');
    expect(lines.map((line) => line.slice(0, 8))).toEqual(['user: pa', 'user: b ', 'user: c ']);
    expect(lines.slice(0, 2).map(({ length }) => length)).toEqual([406, 406]);
    expect(input).toHaveLength(1000);
    expect(input).not.toContain('hunter2');
  });

  it('of prompts has the running and the queued ones', async () => {
    const talk = await start();
    const running = world.model.enqueue({ text: 'Hi.', hold: true });
    await talk.prompt('one');
    await talk.prompt('two');
    await until(() => world.model.requests.length === 1);
    await generate(talk);
    expect(inputs()).toEqual(['user: one\nuser: two']);
    world.model.enqueue({ text: 'Hi.' });
    running.release();
  });

  it('of the first turn has its last answer, and needs one', async () => {
    const talk = await start();
    const running = world.model.enqueue({ text: 'Answer.', hold: true });
    const { prompt_id } = await talk.prompt('one');
    await until(() => world.model.requests.length === 1);
    expect(await generate(talk, { source: 'first_turn' })).toMatchObject(UNAVAILABLE);
    running.release();
    await talk.settled(prompt_id);
    await talk.turn('two', [{ text: 'Other.' }]);
    await generate(talk, { source: 'first_turn' });
    expect(inputs()).toEqual(['user: one\nassistant: Answer.']);
  });

  it('of a digest has the first turn and the latest ones', async () => {
    const talk = await start();
    for (let n = 1; n <= 9; n += 1) await talk.turn(`${n} ${'p '.repeat(150)}`, [{ text: `${n} ${'a '.repeat(150)}` }]);
    await generate(talk, { source: 'digest' });
    const [input = ''] = inputs();
    const lines = input.split('\n');
    expect(input.length).toBeLessThanOrEqual(3000);
    expect(lines.map((line) => line.replace(/(: \d).*/, '$1'))).toEqual([
      'user: 1',
      'assistant: 1',
      '...',
      ...[4, 5, 6, 7, 8, 9].flatMap((n) => [`user: ${n}`, `assistant: ${n}`]),
    ]);
    expect(lines[0]).toHaveLength('user: '.length + 200);
  });
});
