/** Goals over REST: set, continued turn by turn, paused, resumed, cancelled, blocked, reached; with all errors. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { modeEvents } from '#schema/events/modes.ts';
import { transcriptPageSchema } from '#schema/rest/transcript.ts';
import { noBudget } from '#support/goals.ts';
import { call, resumeTalk, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const profile = (talk: Talk, agent_config: object) => world.api('POST', `${talk.path}/profile`, { agent_config });
const setGoal = (talk: Talk, goal_objective: string) =>
  world.ok('POST', `${talk.path}/profile`, { agent_config: { goal_objective } });
const control = (talk: Talk, goal_control: string) =>
  world.ok('POST', `${talk.path}/profile`, { agent_config: { goal_control } });
const goal = (talk: Talk) => world.ok('GET', `${talk.path}/goal`);
const update = (status: string) => ({ calls: [call('UpdateGoal', { status })] });
const changes = (talk: Talk) =>
  talk.all('goal.updated').map(({ payload }) => {
    const { snapshot, change } = payload as {
      snapshot: { status: string; turnsUsed: number } | null;
      change?: { status: string };
    };
    return [snapshot?.status ?? null, snapshot?.turnsUsed ?? null, change?.status ?? null];
  });
/** Waits until no turn runs. */
const idle = (talk: Talk, turns: number) => talk.nth('turn.ended', turns);

test('is set without a turn; the next prompt works on it, and turns follow until it is reached', async () => {
  const talk = await startTalk(world);
  await setGoal(talk, '  Make it work  ');
  expect(await goal(talk)).toEqual({
    goalId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    objective: 'Make it work',
    status: 'active',
    turnsUsed: 0,
    tokensUsed: 0,
    wallClockMs: expect.any(Number),
    budget: noBudget,
  });
  expect(await talk.status()).toMatchObject({ busy: false });
  expect(talk.all('turn.started')).toEqual([]);
  await talk.turn('Begin', [{ text: 'One.' }, { text: 'Two.' }, update('complete'), { text: 'All done.' }]);
  await idle(talk, 3);
  expect(await goal(talk)).toBeNull();
  expect(changes(talk)).toEqual([
    ['active', 0, null],
    ['active', 1, null],
    ['active', 2, null],
    ['active', 3, null],
    ['complete', 3, 'complete'],
    [null, null, null],
  ]);
  const [, second, third] = talk.all('turn.started').map(({ payload }) => payload);
  for (const payload of [second, third]) {
    expect(payload).toMatchObject({ origin: { kind: 'system_trigger', name: 'goal_continuation' } });
    expect(payload).not.toHaveProperty('promptId');
  }
  expect(talk.all('goal.updated').at(-2)?.payload).toMatchObject({
    snapshot: { status: 'complete' },
    change: { kind: 'completion', status: 'complete', actor: 'model', stats: { turnsUsed: 3, tokensUsed: 15 } },
  });
  expect(await talk.status()).toMatchObject({ busy: false });
});

describe('refused without any change', () => {
  test.each([
    ['a blank objective', { goal_objective: '  \n ' }, 40917],
    ['an objective of 4001 characters', { goal_objective: ` ${'x'.repeat(4001)} ` }, 40918],
    ['a pause without a goal', { goal_control: 'pause' }, 40914],
    ['a resume without a goal', { goal_control: 'resume' }, 40914],
    ['a cancel without a goal', { goal_control: 'cancel' }, 40914],
  ])('%s', async (_what, agent_config, code) => {
    const talk = await startTalk(world);
    expect(await profile(talk, agent_config)).toMatchObject({ code, data: null });
    expect(await goal(talk)).toBeNull();
    expect(talk.all('goal.updated')).toEqual([]);
  });

  test('a second goal, and the pause of a blocked one; earlier parts of the request stay applied', async () => {
    const talk = await startTalk(world);
    await setGoal(talk, 'x'.repeat(4000));
    const second = { title: 'Named', agent_config: { permission_mode: 'yolo', goal_objective: 'Another' } };
    expect(await world.api('POST', `${talk.path}/profile`, second)).toMatchObject({ code: 40913 });
    expect(await talk.nth('session.meta.updated', 1)).toMatchObject({ payload: { title: 'Named' } });
    expect(await talk.status()).toMatchObject({ permission: 'yolo' });
    await talk.turn('Begin', [update('blocked'), { text: 'Stuck.' }]);
    expect(await profile(talk, { goal_control: 'pause' })).toMatchObject({ code: 40915 });
    expect(await goal(talk)).toMatchObject({ status: 'blocked' });
    expect(await profile(talk, { goal_objective: 'Another' })).toMatchObject({ code: 40913 });
  });

  test('goal members of a prompt are ignored', async () => {
    const talk = await startTalk(world);
    await talk.turn('Hello', [{ text: 'Hello.' }], { goal_objective: 'world peace', goal_control: 'resume' });
    expect(await goal(talk)).toBeNull();
  });

  test('an unknown session', async () => {
    expect(await world.api('GET', '/sessions/session_x/goal')).toMatchObject({ code: 40401 });
  });
});

test('one request may set an objective and pause it', async () => {
  const talk = await startTalk(world);
  expect((await profile(talk, { goal_objective: 'One', goal_control: 'pause' })).code).toBe(0);
  expect(await goal(talk)).toMatchObject({ objective: 'One', status: 'paused' });
});

test('resumed in a session without turns, it continues with the default model and without a prompt', async () => {
  const talk = await startTalk(world);
  await profile(talk, { goal_objective: 'One', goal_control: 'pause' });
  const held = world.model.enqueue({ text: 'Working.', hold: true });
  await control(talk, 'resume');
  await held.sent;
  expect(await world.ok('GET', `${talk.path}/prompts`)).toEqual({ active: null, queued: [] });
  expect(await world.ok('GET', talk.path)).toMatchObject({ busy: true, main_turn_active: true });
  for (const script of [update('complete'), { text: 'Done.' }]) world.model.enqueue(script);
  held.release();
  await talk.nth('turn.ended', 2);
  expect(talk.all('prompt.submitted')).toEqual([]);
  expect(
    wireText(wireMessages(world, -1).find((message) => wireText(message).includes('One')) ?? { role: '' }),
  ).toContain('<untrusted_objective>');
});

test('a prompt sent during a continuation is queued and runs before the next one', async () => {
  const talk = await startTalk(world);
  await setGoal(talk, 'One');
  await talk.prompt('Begin', [{ text: 'One.' }]);
  const held = world.model.enqueue({ text: 'Two.', hold: true });
  await held.sent;
  const queued = await talk.prompt('Look at this', [{ text: 'Three.' }, update('complete'), { text: 'Done.' }]);
  expect(queued.status).toBe('queued');
  held.release();
  await talk.nth('turn.ended', 4);
  expect(talk.all('turn.started').map(({ payload }) => payload['promptId'])).toEqual([
    expect.any(String),
    undefined,
    queued.prompt_id,
    undefined,
  ]);
});

test.each(['the session', 'the prompt'])('an abort of %s pauses it', async (what) => {
  const talk = await startTalk(world);
  await setGoal(talk, 'One');
  const held = world.model.enqueue({ text: 'Working.', hold: true });
  const { prompt_id } = await talk.prompt('Begin');
  await held.sent;
  await world.ok('POST', what === 'the session' ? `${talk.path}:abort` : `${talk.path}/prompts/${prompt_id}:abort`);
  await talk.settled(prompt_id);
  expect(await goal(talk)).toMatchObject({ status: 'paused', terminalReason: 'Paused after interruption' });
  expect(await talk.status()).toMatchObject({ busy: false });
});

test('cancelled during its turn: the turn ends, the model is informed', async () => {
  const talk = await startTalk(world);
  await setGoal(talk, 'One');
  const held = world.model.enqueue({ text: 'Working.', hold: true });
  const { prompt_id } = await talk.prompt('Begin');
  await held.sent;
  await control(talk, 'cancel');
  expect(await goal(talk)).toBeNull();
  await talk.settled(prompt_id);
  expect((await talk.nth('turn.ended', 1)).payload).toMatchObject({ reason: 'cancelled', interruptReason: 'aborted' });
  await talk.turn('And now?', [{ text: 'Nothing.' }]);
  expect(wireMessages(world, -1).map(wireText).join()).toContain('cancelled the goal');
});

describe('the approval of a goal that the model sets', () => {
  const create = { calls: [call('CreateGoal', { objective: 'Ship', completionCriterion: 'green' })] };

  test.each(['manual', 'yolo'])('is requested in %s mode, with its display', async (mode) => {
    const talk = await startTalk(world);
    await talk.prompt('Make it a goal', [create, update('complete'), { text: 'Done.' }], { permission_mode: mode });
    const approval = await talk.approval();
    expect(approval).toMatchObject({
      tool_name: 'CreateGoal',
      action: 'Creating a goal',
      tool_input_display: { kind: 'goal_start', objective: 'Ship', completionCriterion: 'green', mode },
    });
    expect(await goal(talk)).toBeNull();
    await talk.answer(approval.approval_id, { decision: 'approved', scope: 'session' });
    await talk.nth('prompt.completed', 1);
    expect(changes(talk).at(-1)).toEqual([null, null, null]);
    // An approval applies to one goal only.
    await talk.prompt('Again', [create, { text: 'Fine.' }]);
    await talk.answer((await talk.approval(2)).approval_id, { decision: 'rejected', feedback: 'not now' });
    await talk.nth('prompt.completed', 2);
    expect(await goal(talk)).toBeNull();
    expect(talk.all('tool.result').at(-1)?.payload).toMatchObject({
      isError: true,
      output: expect.stringContaining('not now'),
    });
  });

  test('is not requested in auto mode', async () => {
    const talk = await startTalk(world);
    await talk.turn('Go', [create, update('complete'), { text: 'Done.' }], { permission_mode: 'auto' });
    expect(talk.all('event.approval.requested')).toEqual([]);
    expect(talk.all('tool.call.started')[0]?.payload).not.toHaveProperty('display');
    expect(changes(talk)).toHaveLength(3);
  });

  test.each([
    ['yolo', 'yolo'],
    ['auto', 'auto'],
    ['Yolo', 'manual'],
  ])('with the label %s sets the mode %s', async (selected_label, permission) => {
    const talk = await startTalk(world);
    const { prompt_id } = await talk.prompt('Go', [create, update('complete'), { text: 'Done.' }]);
    await talk.answer((await talk.approval()).approval_id, { decision: 'approved', selected_label });
    await talk.settled(prompt_id);
    expect(await talk.status()).toMatchObject({ permission });
  });

  test('changes no mode if rejected with a label', async () => {
    const talk = await startTalk(world);
    const { prompt_id } = await talk.prompt('Go', [create, { text: 'Fine.' }]);
    await talk.answer((await talk.approval()).approval_id, { decision: 'cancelled', selected_label: 'auto' });
    await talk.settled(prompt_id);
    expect(await talk.status()).toMatchObject({ permission: 'manual' });
    expect(await goal(talk)).toBeNull();
  });
});

describe('after a restart', () => {
  test('an active goal reads as paused; loading publishes no event, the next record persists it', async () => {
    const talk = await startTalk(world);
    await setGoal(talk, 'One');
    const { seq } = await talk.nth('goal.updated', 1);
    await world.restart();
    const paused = { status: 'paused', terminalReason: 'Paused after agent resume' };
    expect(await goal(talk)).toMatchObject(paused);
    const again = await resumeTalk(world, talk.session);
    await world.ok('GET', `${talk.path}/prompts`);
    expect(await goal(talk)).toMatchObject(paused);
    await again.turn('Hello', [{ text: 'Hello.' }]);
    expect(again.all('goal.updated')).toHaveLength(1);
    expect(again.all('goal.updated')[0]?.seq).toBe(seq);
    expect(again.all('turn.started')).toHaveLength(1);
    const transcript = await world.ok('GET', `${talk.path}/transcript?agent_id=main`);
    expect(transcript).toMatchObject({ meta: { goal: { status: 'paused' } } });
    for (const script of [update('complete'), { text: 'Done.' }]) world.model.enqueue(script);
    await control(again, 'resume');
    await again.nth('turn.ended', 2);
    expect(await goal(talk)).toBeNull();
  });
});

test('the transcript has the goal and its outcome', async () => {
  const talk = await startTalk(world);
  await setGoal(talk, 'One');
  const read = async () => transcriptPageSchema.parse(await world.ok('GET', `${talk.path}/transcript?agent_id=main`));
  const { meta, seq } = await read();
  expect(meta).toMatchObject({ goal: { objective: 'One', status: 'active', budgetUsed: 0 } });
  const budget = { calls: [call('SetGoalBudget', { value: 500, unit: 'tokens' })] };
  await talk.turn('Begin', [budget, { text: 'One.' }, update('complete'), { text: 'Done.' }]);
  await talk.nth('turn.ended', 2);
  const live = await read();
  const markers = live.items.flatMap((item) => (item.kind === 'marker' ? [item] : []));
  const stats = { turnsUsed: 2, tokensUsed: expect.any(Number), wallClockMs: expect.any(Number) };
  expect(markers.map(({ marker, payload }) => [marker, modeEvents['goal.updated'].parse(payload)])).toMatchObject([
    ['goal', { snapshot: { status: 'active' } }],
    [
      'goal',
      { snapshot: { status: 'complete' }, change: { kind: 'completion', status: 'complete', actor: 'model', stats } },
    ],
    ['goal', { snapshot: null }],
  ]);
  expect(live.meta).not.toHaveProperty('goal');
  const ops = await world.ok('GET', `${talk.path}/transcript/ops?agent_id=main&since_seq=${seq}`);
  expect(JSON.stringify(ops)).toContain('"budgetLimit":500');
});
