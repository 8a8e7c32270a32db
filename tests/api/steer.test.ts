/** Waiting prompts that are put into the turn that runs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callThenText, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

/** A turn that runs until `release`, with prompts waiting behind it. */
async function holdTurn(waiting: string[]) {
  const talk = await startTalk(world);
  const held = world.model.enqueue({ text: 'first', hold: true });
  await talk.prompt('first', [], { prompt_id: 'p0' });
  await held.sent;
  for (const id of waiting) await talk.prompt(`text of ${id}`, [], { prompt_id: id });
  return { talk, held };
}

const steer = (talk: Talk, prompt_ids: unknown) => world.api('POST', `${talk.path}/prompts:steer`, { prompt_ids });
const shown = async (talk: Talk) =>
  (await talk.messages()).filter(({ metadata }) => metadata?.origin?.kind !== 'injection');
const refused = { code: 40402, data: null };

test('several become one message in the order of the queue, and settle with the turn', async () => {
  const { talk, held } = await holdTurn(['p1', 'p2', 'p3']);
  expect(await steer(talk, ['p3', 'p1'])).toMatchObject({ code: 0, data: { steered: true, prompt_ids: ['p3', 'p1'] } });
  const { payload } = await talk.nth('prompt.steered', 1);
  expect(payload).toMatchObject({
    activePromptId: 'p0',
    promptIds: ['p1', 'p3'],
    messageId: 'p1',
    content: [{ text: 'text of p1' }, { text: 'text of p3' }],
    steeredAt: expect.any(String),
  });
  expect(await world.ok('GET', `${talk.path}/prompts`)).toMatchObject({
    active: { prompt_id: 'p0' },
    queued: [{ prompt_id: 'p2' }],
  });
  for (const text of ['steered', 'second']) world.model.enqueue({ text });
  held.release();
  await talk.settled('p2');
  expect((await shown(talk)).map(({ id, content }) => [id.startsWith('p') ? id : '', content])).toMatchObject([
    ['p0', [{ text: 'first' }]],
    ['', [{ text: 'first' }]],
    ['p1', [{ text: 'text of p1' }, { text: 'text of p3' }]],
    ['', [{ text: 'steered' }]],
    ['p2', [{ text: 'text of p2' }]],
    ['', [{ text: 'second' }]],
  ]);
  expect(talk.all('turn.started')).toHaveLength(2);
  expect(talk.all('prompt.completed').map((frame) => frame.payload.promptId)).toEqual(['p0', 'p2']);
  expect(talk.all('prompt.started').map((frame) => frame.payload.promptId)).toEqual(['p0', 'p2']);
  const types = talk.events.durable(talk.session.id).map(({ type }) => type);
  const from = types.indexOf('prompt.steered');
  expect(types.slice(from, from + 5)).toEqual([
    'prompt.steered',
    'turn.step.completed',
    'context.spliced',
    'turn.step.started',
    'turn.step.completed',
  ]);
});

test('one goes in by its own address, whatever the body is', async () => {
  const { talk, held } = await holdTurn(['p1']);
  const reply = await world.api('POST', `${talk.path}/prompts/p1:steer`, ['ignored']);
  expect(reply).toMatchObject({ code: 0, data: { steered: true, prompt_ids: ['p1'] } });
  world.model.enqueue({ text: 'done' });
  held.release();
  await talk.settled('p0');
  expect(wireMessages(world, -1).map(wireText).at(-1)).toBe('text of p1');
});

test('waits for the results of the step, and ends no approval', async () => {
  const talk = await startTalk(world);
  const [calls, answer] = callThenText('Bash', { command: 'echo hello' });
  await talk.prompt('Run', calls ? [calls] : [], { prompt_id: 'p0' });
  const { approval_id } = await talk.approval();
  await talk.prompt('hurry', [], { prompt_id: 'p1' });
  expect(await steer(talk, ['p1'])).toMatchObject({ code: 0 });
  expect(talk.all('event.approval.resolved')).toEqual([]);
  world.model.enqueue(answer ?? { text: 'Done.' });
  await talk.answer(approval_id, { decision: 'approved' });
  await talk.settled('p0');
  expect((await shown(talk)).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant']);
});

describe('is refused', () => {
  test('without a turn', async () => {
    const talk = await startTalk(world);
    expect(await steer(talk, ['p1'])).toMatchObject({ ...refused, msg: 'no active prompt to steer into' });
  });

  test.each([
    ['an unknown id', ['p1', 'unknown']],
    ['an id twice', ['p1', 'p1']],
    ['the active prompt', ['p0']],
  ])('for %s, and nothing has changed', async (_what, ids) => {
    const { talk, held } = await holdTurn(['p1']);
    expect(await steer(talk, ids)).toMatchObject({ ...refused, msg: 'one or more prompts are not pending' });
    expect(await world.ok('GET', `${talk.path}/prompts`)).toMatchObject({ queued: [{ prompt_id: 'p1' }] });
    world.model.enqueue({ text: 'second' });
    held.release();
    await talk.settled('p1');
    expect(talk.all('prompt.steered')).toEqual([]);
  });

  test('for what is no list of ids, or another action', async () => {
    const talk = await startTalk(world);
    expect(await steer(talk, [])).toMatchObject({ code: 40001 });
    expect(await steer(talk, 'p1')).toMatchObject({ code: 40001 });
    expect(await world.api('POST', `${talk.path}/prompts:push`, {})).toMatchObject({ code: 40001 });
    expect(await world.api('POST', '/sessions/unknown/prompts:steer', { prompt_ids: ['a'] })).toMatchObject({
      code: 40401,
    });
  });
});

test('cannot be taken back: an abort of it is refused, one of the turn keeps its text', async () => {
  const { talk } = await holdTurn(['p1', 'p2']);
  await steer(talk, ['p1']);
  expect(await world.api('POST', `${talk.path}/prompts/p1:abort`)).toMatchObject(refused);
  expect(
    await world.api('POST', `${talk.path}/prompts`, { content: [{ type: 'text', text: 'x' }], prompt_id: 'p1' }),
  ).toMatchObject({ code: 40927 });
  world.model.enqueue({ text: 'second' });
  await world.ok('POST', `${talk.path}/prompts/p0:abort`);
  await talk.settled('p2');
  expect((await shown(talk)).map(({ id }) => id).filter((id) => /^p\d/.test(id))).toEqual(['p0', 'p1', 'p2']);
  const types = talk.events.durable(talk.session.id).map(({ type }) => type);
  const end = types.indexOf('turn.ended');
  expect(types.slice(end, end + 5)).toEqual([
    'turn.ended',
    'context.spliced',
    'context.spliced',
    'event.session.work_changed',
    'prompt.aborted',
  ]);
  expect(await world.api('POST', `${talk.path}/prompts/p1:abort`)).toMatchObject({ code: 40903 });
});

test('shows in the transcript: the prompt grows, the text stands in the step that it entered', async () => {
  const { talk, held } = await holdTurn(['p1']);
  await steer(talk, ['p1']);
  expect(await world.ok('GET', `${talk.path}/transcript?agent_id=main`)).toMatchObject({
    prompts: [{ promptId: 'p0', status: 'running', content: [{ text: 'first' }, { text: 'text of p1' }] }],
  });
  world.model.enqueue({ text: 'done' });
  held.release();
  await talk.settled('p0');
  expect(await world.ok('GET', `${talk.path}/transcript?agent_id=main`)).toMatchObject({
    items: [
      {
        turnId: 't0',
        steps: [
          { frames: [{ text: 'first' }] },
          { frames: [{ kind: 'text', role: 'user', text: 'text of p1' }, { text: 'done' }] },
        ],
      },
    ],
    prompts: [],
  });
});
