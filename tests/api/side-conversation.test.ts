/** Side conversations: a read-only agent on a copy of the main one, addressed by its id. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Script } from '#support/model-server.ts';
import { call, resumeTalk, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const open = async ({ path }: Talk): Promise<string> => {
  const { agent_id } = (await world.ok('POST', `${path}:btw`)) as { agent_id: string };
  return agent_id;
};
const ask = (talk: Talk, agent_id: string, text: string, scripts: Script[] = [{ text: 'Answer.' }], more = {}) =>
  talk.turn(text, scripts, { agent_id, ...more });
const said = (nth: number) => wireMessages(world, nth).map(wireText);

test('answers from the copied conversation, without changing the main one', async () => {
  const talk = await startTalk(world);
  await talk.turn('The word is plum', [{ text: 'Noted.' }]);
  const agent = await open(talk);
  expect(agent).toBe('agent-1');
  const before = await talk.messages();
  const { prompt } = await ask(talk, agent, 'Which word?');
  expect(said(-1).filter((text) => !text.includes('date is'))).toEqual([
    expect.any(String),
    'The word is plum',
    'Noted.',
    expect.stringContaining('side conversation'),
    'Which word?',
  ]);
  const [mine, main] = [world.model.requests.at(-1), world.model.requests.at(-2)];
  expect(mine?.body.tools).toEqual(main?.body.tools);
  expect(await talk.messages()).toEqual(before);
  expect(await world.ok('GET', `${talk.path}/prompts`)).toEqual({ active: null, queued: [] });
  expect(await world.ok('GET', talk.path)).toMatchObject({
    busy: false,
    last_turn_reason: 'completed',
    last_prompt: 'Which word?',
  });
  await talk.turn('Go on', [{ text: 'Fine.' }]);
  expect(said(-1).join()).not.toContain('Which word?');
  await ask(talk, agent, 'Sure?');
  expect(said(-1).slice(-3)).toEqual(['Which word?', 'Answer.', 'Sure?']);
  expect(await world.api('POST', `${talk.path}/prompts/${prompt.prompt_id}:abort`)).toMatchObject({ code: 40903 });
});

test('only reads, regardless of the mode and of remembered approvals', async () => {
  const talk = await startTalk(world);
  await talk.turn('Hello', [{ text: 'Hi.' }], { permission_mode: 'yolo' });
  const agent = await open(talk);
  const refused = [
    call('Bash', { command: 'touch made' }),
    call('Write', { path: 'made', content: '' }),
    call('Edit', { path: 'a.txt', old_string: 'hello', new_string: 'bye' }),
    call('TodoList', { todos: [{ title: 'x', status: 'pending' }] }),
    call('AskUserQuestion', { questions: [{ question: 'A?', options: [{ label: 'a' }, { label: 'b' }] }] }),
  ];
  const allowed = [
    call('Read', { path: 'a.txt' }),
    call('Grep', { pattern: 'hello' }),
    call('Glob', { pattern: '*.txt' }),
  ];
  const { results } = await ask(talk, agent, 'Try', [{ calls: [...refused, ...allowed] }, { text: 'Done.' }], {
    permission_mode: 'yolo',
  });
  expect(results.map(({ isError }) => isError)).toEqual([...refused.map(() => true), ...allowed.map(() => false)]);
  for (const { output } of results.slice(0, refused.length)) expect(output).toContain('only reads');
  expect(talk.all('event.approval.requested')).toEqual([]);
});

test('runs concurrently with the turn of the main agent, and is aborted by its prompt', async () => {
  const talk = await startTalk(world);
  const running: Script = { calls: [call('Bash', { command: 'sleep 30' }, 'call_sleep')] };
  await talk.prompt('Wait', [running], { permission_mode: 'yolo' });
  await talk.nth('tool.call.started', 1);
  const agent = await open(talk);
  expect(await world.ok('GET', `${talk.path}/prompts`)).toMatchObject({ active: { status: 'running' } });
  const held = world.model.enqueue({ text: 'Half', hold: true });
  const { prompt_id } = await talk.prompt('Meanwhile', [], { agent_id: agent });
  await held.sent;
  expect(said(-1).some((text) => text.includes('still running'))).toBe(true);
  const waiting = await talk.prompt('Later', [], { agent_id: agent });
  expect(waiting.status).toBe('queued');
  expect(await world.api('POST', `${talk.path}/prompts/${waiting.prompt_id}:abort`)).toMatchObject({ code: 0 });
  expect(await world.api('POST', `${talk.path}/prompts/${prompt_id}:abort`)).toMatchObject({ code: 0 });
  await talk.settled(prompt_id);
  expect(talk.all('turn.ended').map(({ payload }) => [payload.agentId, payload.interruptReason])).toEqual([
    [agent, 'user_cancelled'],
  ]);
  expect(await world.ok('GET', talk.path)).toMatchObject({ busy: true, main_turn_active: true });
  await world.ok('POST', `${talk.path}:abort`);
  await talk.nth('prompt.aborted', 3);
  expect(await world.ok('GET', talk.path)).toMatchObject({ busy: false, last_turn_reason: 'cancelled' });
});

test('requests approval under its own id for paths outside the workspace', async () => {
  const talk = await startTalk(world);
  await talk.turn('Hello', [{ text: 'Hi.' }], { permission_mode: 'manual' });
  const agent = await open(talk);
  const { prompt_id } = await talk.prompt('Look', [{ calls: [call('Read', { path: '/etc/hostname' })] }], {
    agent_id: agent,
  });
  const approval = await talk.approval();
  expect(approval).toMatchObject({ agent_id: agent, turn_id: 0, tool_name: 'Read' });
  // The prompt list is the main agent's.
  await talk.prompt('Later', [], { agent_id: agent, prompt_id: 'later' });
  expect(await world.ok('GET', `${talk.path}/prompts`)).toEqual({ active: null, queued: [] });
  await world.ok('POST', `${talk.path}/prompts/later:abort`);
  // A turn of another agent with the same number ends.
  world.model.enqueue({ text: 'Done.' });
  const main = await talk.prompt('Beside');
  await talk.settled(main.prompt_id);
  expect(await world.approvals(talk.session.id)).toHaveLength(1);
  await talk.answer(approval.approval_id, { decision: 'rejected' });
  await talk.settled(prompt_id);
});

test('continues after a restart', async () => {
  const talk = await startTalk(world);
  await talk.turn('The word is pear', [{ text: 'Noted.' }]);
  const agent = await open(talk);
  await ask(talk, agent, 'First?');
  await world.restart();
  await ask(await resumeTalk(world, talk.session), agent, 'Second?');
  expect(said(-1)).toEqual(expect.arrayContaining(['The word is pear', 'First?', 'Answer.', 'Second?']));
});

test('starts empty in a session without messages, and does not create the main agent', async () => {
  const talk = await startTalk(world);
  const agent = await open(talk);
  await talk.nth('agent.created', 1);
  expect(talk.all('agent.created').map(({ payload }) => payload.agentId)).toEqual([agent]);
  const { ended } = await ask(talk, agent, 'Hello?');
  expect(ended).toMatchObject({ reason: 'completed' });
  expect(said(-1)).toContain('Hello?');
});

test('belongs to its session', async () => {
  const [one, other] = [await startTalk(world), await startTalk(world)];
  const agent = await open(one);
  for (const agent_id of [agent, 'agent-99', '../agent-1', '__proto__', 'agent-01']) {
    const body = { content: [{ type: 'text', text: 'Hi' }], agent_id };
    expect(await world.api('POST', `${other.path}/prompts`, body)).toMatchObject({
      code: 40401,
      msg: `agent ${agent_id} does not exist`,
    });
  }
  const profile = { content: [{ type: 'text', text: 'Hi' }], agent_id: agent, profile: 'coder' };
  expect(await world.api('POST', `${one.path}/prompts`, profile)).toMatchObject({ code: 40001 });
});

test('requires a session and a model', async () => {
  expect(await world.api('POST', '/sessions/session_none:btw')).toMatchObject({ code: 40401 });
  const bare = await startWorld({ config: { default_model: 'nobody' } });
  try {
    const { id } = await bare.session();
    expect(await bare.api('POST', `/sessions/${id}:btw`)).toMatchObject({ code: 40113 });
    expect(await bare.api('POST', `/sessions/${id}:btw`, [])).toMatchObject({ code: 40001 });
  } finally {
    await bare.close();
  }
});
