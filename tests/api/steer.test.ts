/** Queued prompts that are put into the running turn. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { call, callThenText, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { upload } from '#support/uploads.ts';
import { startWorld, type World } from '#support/world.ts';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

/** Starts a turn that runs until `release`, with queued prompts. */
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

test('a single prompt is steered by its own URL, regardless of the body', async () => {
  const { talk, held } = await holdTurn(['p1']);
  const reply = await world.api('POST', `${talk.path}/prompts/p1:steer`, ['ignored']);
  expect(reply).toMatchObject({ code: 0, data: { steered: true, prompt_ids: ['p1'] } });
  world.model.enqueue({ text: 'done' });
  held.release();
  await talk.settled('p0');
  expect(wireMessages(world, -1).map(wireText).at(-1)).toBe('text of p1');
});

test('waits for the results of the step, and leaves approvals pending', async () => {
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

test('leaves a question of the turn pending, and enters after its answer', async () => {
  const talk = await startTalk(world);
  const questions = [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }];
  await talk.prompt('Ask', [{ calls: [call('AskUserQuestion', { questions })] }], { prompt_id: 'p0' });
  const { question_id } = (await talk.nth('event.question.requested', 1)).payload;
  await talk.prompt('hurry', [], { prompt_id: 'p1' });
  expect(await steer(talk, ['p1'])).toMatchObject({ code: 0 });
  expect(talk.all('event.question.dismissed')).toEqual([]);
  expect(await world.ok('GET', `${talk.path}/questions?status=pending`)).toMatchObject({ items: [{ question_id }] });
  world.model.enqueue({ text: 'Done.' });
  const answers = { q_0: { kind: 'single', option_id: 'opt_0_0' } };
  await world.ok('POST', `${talk.path}/questions/${String(question_id)}`, { answers });
  await talk.settled('p0');
  expect((await shown(talk)).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant']);
  expect(talk.all('event.question.dismissed')).toEqual([]);
});

test('includes images and files: the texts and media of all prompts, in the order of the queue', async () => {
  const { talk, held } = await holdTurn([]);
  const file = await upload(world.server, { content: 'name,count\n', filename: 'list.csv', type: 'text/csv' });
  const png = await upload(world.server, { content: Uint8Array.from(PIXEL), filename: 'a.png', type: 'image/png' });
  const image = { type: 'image', source: { kind: 'file', file_id: png.id } };
  const shownImage = { type: 'image', source: { kind: 'session_media', file_id: png.id } };
  const submit = (prompt_id: string, ...content: unknown[]) =>
    world.ok('POST', `${talk.path}/prompts`, { content, prompt_id });
  await submit('p1', { type: 'text', text: 'Look at' }, image);
  await submit('p2', { type: 'file', file_id: file.id, name: '', media_type: 'x/y', size: 0 });
  expect(await steer(talk, ['p2', 'p1'])).toMatchObject({ code: 0 });
  const attached = { type: 'text', text: expect.stringContaining('Attached file "list.csv"') };
  expect((await talk.nth('prompt.steered', 1)).payload.content).toMatchObject([
    { text: 'Look at' },
    shownImage,
    attached,
  ]);
  world.model.enqueue({ text: 'A pixel and a list.' });
  held.release();
  await talk.settled('p0');
  expect(wireMessages(world, -1).at(-1)?.content).toMatchObject([
    { type: 'text', text: 'Look at' },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL.toString('base64')}` } },
    attached,
  ]);
  expect(await world.ok('GET', `${talk.path}/transcript?agent_id=main`)).toMatchObject({
    attachments: [{ name: 'a.png', source: { kind: 'session_media', fileId: png.id } }],
  });
  expect((await shown(talk))[2]).toMatchObject({
    id: 'p1',
    content: [{ text: 'Look at' }, shownImage, attached],
  });
});

describe('with several agents', () => {
  /** A turn of the main agent with `m1` queued, and one of another agent with `s1` and `s2` queued. */
  async function twoAgents(other: (talk: Talk) => Promise<string>) {
    const talk = await startTalk(world);
    const agent_id = await other(talk);
    const turns = [];
    for (const [prompt_id, more] of [['m0', {}] as const, ['s0', { agent_id }] as const]) {
      const held = world.model.enqueue({ text: `text of ${prompt_id}`, hold: true });
      await talk.prompt(prompt_id, [], { prompt_id, ...more });
      await held.sent;
      turns.push(held);
    }
    await talk.prompt('text of m1', [], { prompt_id: 'm1' });
    for (const prompt_id of ['s1', 's2']) await talk.prompt(`text of ${prompt_id}`, [], { prompt_id, agent_id });
    return { talk, agent_id, turns };
  }
  const side = async ({ path }: Talk) =>
    z.object({ agent_id: z.string() }).parse(await world.ok('POST', `${path}:btw`)).agent_id;
  const sub = async (talk: Talk) => {
    const task = { prompt: 'Plan', description: 'plan', subagent_type: 'plan' };
    await talk.turn('Go', [{ calls: [call('Agent', task)] }, { text: 'A plan.' }, { text: 'Done.' }]);
    return 'agent-1';
  };

  test.each([
    ['a side conversation', side],
    ['a subagent', sub],
  ])('all ids must be in one queue; those of %s enter its own turn', async (_what, other) => {
    const { talk, agent_id, turns } = await twoAgents(other);
    for (const ids of [
      ['s1', 'm1'],
      ['m1', 's1'],
      ['s1', 'm0'],
    ]) {
      expect(await steer(talk, ids)).toMatchObject({ ...refused, msg: 'one or more prompts are not pending' });
    }
    expect(talk.all('prompt.steered')).toEqual([]);
    expect(await steer(talk, ['s1'])).toMatchObject({ code: 0, data: { prompt_ids: ['s1'] } });
    expect((await talk.nth('prompt.steered', 1)).payload).toMatchObject({ agentId: agent_id, activePromptId: 's0' });
    expect(await world.ok('GET', `${talk.path}/prompts`)).toMatchObject({
      active: { prompt_id: 'm0' },
      queued: [{ prompt_id: 'm1' }],
    });
    for (const text of ['steered', 'second']) world.model.enqueue({ text });
    turns[1]?.release();
    await talk.settled('s2');
    expect(wireMessages(world, -2).map(wireText).at(-1)).toBe('text of s1');
    expect(wireMessages(world, -1).map(wireText).at(-1)).toBe('text of s2');
    expect(wireMessages(world, -1).map(wireText)).not.toContain('text of m1');
    await world.ok('POST', `${talk.path}/prompts/m1:abort`);
    turns[0]?.release();
    await talk.settled('m0');
    expect((await shown(talk)).map(({ id }) => id)).not.toContain('s1');
  });

  test('while only the other agent runs: its prompts are steered, unknown ids find no turn', async () => {
    const { talk, turns } = await twoAgents(side);
    await world.ok('POST', `${talk.path}/prompts/m1:abort`);
    turns[0]?.release();
    await talk.settled('m0');
    expect(await steer(talk, ['nobody'])).toMatchObject({ ...refused, msg: 'no active prompt to steer into' });
    expect(await steer(talk, ['s2', 's1'])).toMatchObject({ code: 0 });
    world.model.enqueue({ text: 'steered' });
    turns[1]?.release();
    await talk.settled('s0');
    expect(wireText(wireMessages(world, -1).at(-1) ?? { role: '' })).toMatch(/text of s1\s*text of s2/);
  });
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
  ])('for %s, without any change', async (_what, ids) => {
    const { talk, held } = await holdTurn(['p1']);
    expect(await steer(talk, ids)).toMatchObject({ ...refused, msg: 'one or more prompts are not pending' });
    expect(await world.ok('GET', `${talk.path}/prompts`)).toMatchObject({ queued: [{ prompt_id: 'p1' }] });
    world.model.enqueue({ text: 'second' });
    held.release();
    await talk.settled('p1');
    expect(talk.all('prompt.steered')).toEqual([]);
  });

  test('for a body without a list of ids, or another action', async () => {
    const talk = await startTalk(world);
    expect(await steer(talk, [])).toMatchObject({ code: 40001 });
    expect(await steer(talk, 'p1')).toMatchObject({ code: 40001 });
    expect(await world.api('POST', `${talk.path}/prompts:push`, {})).toMatchObject({ code: 40001 });
    expect(await world.api('POST', '/sessions/unknown/prompts:steer', { prompt_ids: ['a'] })).toMatchObject({
      code: 40401,
    });
  });
});

test('cannot be reverted: aborting the steered prompt is refused, aborting the turn keeps its text', async () => {
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

test('is in the transcript: in the prompt, and in the step that it entered', async () => {
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
