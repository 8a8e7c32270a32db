/** How subagents start: the models of `[secondary_model]`, and a copy of the conversation that survives a crash. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crashedHome } from '#support/crash.ts';
import { call, startTalk, wireMessages, wireText } from '#support/talk.ts';
import { startServer } from '#support/server.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({
    config: { experimental: { 'secondary-model': true, subagent_fork: true } },
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

test('a broken pool only refuses requests that start or load a session', async () => {
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
  // Loaded sessions work, reads need no loaded session, and an unknown session is reported first.
  await world.ok('POST', `${live.path}:btw`);
  expect(await world.messages(cold.session.id)).toHaveLength(3);
  expect(await world.api('POST', '/sessions/session_none:btw', {})).toMatchObject({ code: 40401 });
  await configure(null);
  await world.ok('POST', `${cold.path}:fork`, {});
  await world.ok('POST', `${cold.path}:btw`);
});

test('a copy of the conversation survives a kill of the server', async () => {
  const talk = await startTalk(world);
  await talk.turn('Which fruit?', [{ text: 'Plums.' }]);
  const args = { prompt: 'Ask again', description: 'ask' };
  world.model.enqueue({ calls: [call('Agent', { ...args, fork: true })] });
  const held = world.model.enqueue({ text: 'Pears', hold: true });
  await talk.prompt('Ask somebody');
  await held.sent;
  const home = await crashedHome(world.server.home, talk.session);
  const server = await startServer({ home });
  try {
    const pages = async (agent: string) =>
      (await server.api('GET', `${talk.path}/transcript?agent_id=${agent}`)).data as { items: { kind: string }[] };
    // The copied context belongs to the caller; the transcript starts with the task.
    const turns = (await pages('agent-1')).items.filter(({ kind }) => kind === 'turn');
    expect(turns).toMatchObject([{ state: 'cancelled' }]);
    for (const script of [
      { calls: [call('Agent', { ...args, resume: 'agent-1' })] },
      { text: LONG },
      { text: 'Done.' },
    ])
      world.model.enqueue(script);
    const asked = world.model.requests.length;
    await server.api('POST', `${talk.path}/prompts`, { content: [{ type: 'text', text: 'Go on' }] });
    await world.model.waitForRequest(asked + 3);
    const said = wireMessages(world, asked + 2).map(wireText);
    expect(said).toEqual(
      expect.arrayContaining([
        'Which fruit?',
        'Plums.',
        'Ask somebody',
        expect.stringContaining('still running when the conversation was copied'),
        expect.stringContaining('You are a subagent now'),
        'Ask again',
      ]),
    );
    expect(said.filter((text) => text === 'Plums.')).toHaveLength(1);
  } finally {
    await server.close();
    await rm(home, { recursive: true, force: true });
    held.release();
  }
});
