/** `[secondary_model]`: looked at before a session is made, loaded or copied; what its subagents run on. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, startTalk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({
    config: { experimental: { 'secondary-model': true } },
    models: { 'fake/small': { model: 'small-1' }, 'fake/large': { model: 'large-1' } },
  });
});
afterAll(() => world.close());

const configure = (secondary_model: unknown) => world.ok('POST', '/config', { secondary_model });
const pool = { default_model: 'fake/small', models: { 'fake/small': 'quick work', 'fake/large': '' } };
const LONG = 'The files hold two words, hello and world. '.repeat(6).trim();

test('subagents run on the model of the pool that their caller names', async () => {
  await configure(pool);
  const talk = await startTalk(world);
  const calls = [undefined, 'fake/large', 'primary'].map((model) =>
    call('Agent', { prompt: 'Look', description: 'look', ...(model ? { model } : {}) }),
  );
  world.model.answerBy(({ body }) => (JSON.stringify(body.messages).includes('"Look"') ? { text: LONG } : undefined));
  const before = world.model.requests.length;
  await talk.turn('Go', [{ calls }, { text: 'Done.' }]);
  const asked = world.model.requests.slice(before).map(({ body }) => body.model);
  expect(asked.toSorted()).toEqual(['fake-1', 'fake-1', 'fake-1', 'large-1', 'small-1']);
  expect(talk.all('subagent.spawned').map(({ payload }) => payload.model)).toEqual([
    'fake/small',
    'fake/large',
    'fake/fake-1',
  ]);
  world.model.answerBy(() => undefined);
});

test('one that is broken stops what begins a session, and nothing else', async () => {
  await configure(pool);
  const live = await startTalk(world);
  const cold = await startTalk(world);
  await cold.turn('Hello', [{ text: 'Hello.' }]);
  await world.restart();
  await world.ok('POST', `${live.path}:btw`);
  await configure({ default_model: 'fake/gone' });
  const refused = { code: 40001, msg: expect.stringContaining('secondary_model: default_model fake/gone') };
  const attempts: [string, string, unknown?][] = [
    ['POST', '/sessions', { metadata: { cwd: world.project } }],
    ['POST', `${live.path}:fork`, {}],
    ['POST', `${cold.path}:fork`, {}],
    ['POST', `${cold.path}/children`, {}],
    ['POST', `${cold.path}/prompts`, { content: [{ type: 'text', text: 'Again' }] }],
  ];
  for (const [method, path, body] of attempts) expect(await world.api(method, path, body)).toMatchObject(refused);
  // What is loaded goes on, what only reads needs no session, and who names none is told that first.
  await world.ok('POST', `${live.path}:btw`);
  expect(await world.messages(cold.session.id)).toHaveLength(3);
  expect(await world.api('POST', '/sessions/session_none:btw', {})).toMatchObject({ code: 40401 });
  await configure(null);
  await world.ok('POST', `${cold.path}:fork`, {});
  await world.ok('POST', `${cold.path}:btw`);
});
