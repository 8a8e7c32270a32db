/** Prompts that are queued while a turn runs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resumeTalk, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const list = (talk: Talk) =>
  world.ok('GET', `${talk.path}/prompts`) as Promise<{
    active: { prompt_id: string; status: string } | null;
    queued: { prompt_id: string; status: string }[];
  }>;

/** Starts a turn that runs until `release`, with queued prompts. */
async function holdTurn(waiting: string[]) {
  const talk = await startTalk(world);
  const held = world.model.enqueue({ text: 'first', hold: true });
  await talk.prompt('first', [], { prompt_id: 'p0' });
  await held.sent;
  const replies = [];
  for (const id of waiting) replies.push(await talk.prompt(`text of ${id}`, [], { prompt_id: id }));
  return { talk, held, replies };
}

test('queued prompts are listed and run in order of arrival', async () => {
  const { talk, held, replies } = await holdTurn(['p1', 'p2', 'p3']);
  expect(replies.map(({ status }) => status)).toEqual(['queued', 'queued', 'queued']);
  const { active, queued } = await list(talk);
  expect(active).toMatchObject({ prompt_id: 'p0', status: 'running' });
  expect(queued).toEqual(replies);
  await talk.nth('prompt.queued', 3);
  expect(talk.all('prompt.queued').map(({ payload }) => [payload.promptId, payload.queueLength])).toEqual([
    ['p1', 1],
    ['p2', 2],
    ['p3', 3],
  ]);
  expect(await world.ok('GET', talk.path)).toMatchObject({ last_prompt: 'text of p3', busy: true });
  for (const answer of ['one', 'two', 'three']) world.model.enqueue({ text: answer });
  held.release();
  await talk.settled('p3');
  expect(talk.all('turn.started').map(({ payload }) => [payload.turnId, payload.promptId])).toEqual([
    [0, 'p0'],
    [1, 'p1'],
    [2, 'p2'],
    [3, 'p3'],
  ]);
  const texts = (await talk.messages()).filter(({ metadata }) => metadata?.origin?.kind !== 'injection');
  expect(texts.map(({ content }) => content)).toMatchObject(
    ['first', 'first', 'text of p1', 'one', 'text of p2', 'two', 'text of p3', 'three'].map((text) => [{ text }]),
  );
  expect(await list(talk)).toEqual({ active: null, queued: [] });
});

test('a turn ends before the next one starts, with its own pair of work changes', async () => {
  const { talk, held } = await holdTurn(['p1']);
  world.model.enqueue({ text: 'second' });
  held.release();
  await talk.settled('p1');
  const types = talk.events.durable(talk.session.id).map(({ type }) => type);
  const end = types.indexOf('turn.ended');
  expect(types.slice(end, end + 5)).toEqual([
    'turn.ended',
    'event.session.work_changed',
    'prompt.completed',
    'turn.started',
    'event.session.work_changed',
  ]);
  expect(types.filter((type) => type === 'prompt.started')).toHaveLength(2);
});

test.each([
  ['failing', { status: 400, error: 'bad' }, 'failed'],
  ['filtered', { text: 'x', finish: 'content_filter' }, 'failed'],
])('a %s turn does not stop the queue', async (_what, script, reason) => {
  const talk = await startTalk(world);
  const hang = world.model.enqueue({ text: 'a', hold: true });
  await talk.prompt('a', [], { prompt_id: 'p0' });
  await talk.prompt('b', [script], { prompt_id: 'p1' });
  await talk.prompt('c', [{ text: 'fine' }], { prompt_id: 'p2' });
  hang.release();
  expect((await talk.settled('p1')).payload.reason).toBe(reason);
  expect((await talk.settled('p2')).payload.reason).toBe('completed');
});

test('overrides of a queued prompt also apply to the turns before it', async () => {
  const { talk, held } = await holdTurn(['p1']);
  await talk.prompt('third', [], { prompt_id: 'p2', permission_mode: 'yolo', disabled_tools: ['Bash'] });
  expect(await talk.status()).toMatchObject({ permission: 'yolo' });
  world.model.enqueue({ text: 'two' });
  world.model.enqueue({ text: 'three' });
  held.release();
  await talk.settled('p2');
  const tools = world.model.requests.slice(-2).map(({ body }) => JSON.stringify(body.tools));
  for (const names of tools) expect(names).not.toContain('"Bash"');
});

describe('removing queued prompts', () => {
  test('removes it from the list, publishes it, and runs no turn', async () => {
    const { talk, held } = await holdTurn(['p1', 'p2']);
    await talk.nth('prompt.queued', 2);
    const { length } = talk.events.durable(talk.session.id);
    expect(await world.ok('POST', `${talk.path}/prompts/p1:abort`)).toEqual({ aborted: true });
    const { payload } = await talk.settled('p1');
    expect(payload).toMatchObject({ promptId: 'p1', abortedAt: expect.any(String) });
    expect(
      talk.events
        .durable(talk.session.id)
        .slice(length)
        .map(({ type }) => type),
    ).toEqual(['prompt.aborted']);
    expect((await list(talk)).queued).toMatchObject([{ prompt_id: 'p2' }]);
    expect(await world.api('POST', `${talk.path}/prompts/p1:abort`)).toMatchObject({
      code: 40903,
      msg: 'prompt p1 already completed',
      data: { aborted: false },
    });
    world.model.enqueue({ text: 'two' });
    held.release();
    await talk.settled('p2');
    expect(talk.all('turn.started').map(({ payload: turn }) => turn.turnId)).toEqual([0, 1]);
    expect(wireMessages(world, -1).map(wireText).join()).not.toContain('text of p1');
  });

  test('removes all of them concurrently', async () => {
    const { talk, held } = await holdTurn(['p1', 'p2', 'p3']);
    const ids = ['p1', 'p2', 'p3'];
    await Promise.all(ids.map((id) => world.ok('POST', `${talk.path}/prompts/${id}:abort`)));
    held.release();
    await talk.settled('p0');
    expect(await list(talk)).toEqual({ active: null, queued: [] });
  });
});

test('twenty concurrent submits run sequentially', async () => {
  const talk = await startTalk(world);
  const ids = Array.from({ length: 20 }, (_, i) => `p${i}`);
  for (const id of ids) world.model.enqueue({ text: id });
  const replies = await Promise.all(ids.map((id) => talk.prompt(id, [], { prompt_id: id })));
  expect(replies.filter(({ status }) => status === 'running').length).toBeGreaterThanOrEqual(1);
  await Promise.all(ids.map(talk.settled));
  expect(talk.all('turn.started').map(({ payload }) => payload.turnId)).toEqual(ids.map((_, i) => i));
  const accepted = talk.all('prompt.submitted').map(({ payload }) => payload.promptId);
  expect(talk.all('turn.started').map(({ payload }) => payload.promptId)).toEqual(accepted);
  const open = talk.all('turn.started').map(({ seq }) => seq ?? 0);
  const closed = talk.all('turn.ended').map(({ seq }) => seq ?? 0);
  for (const [i, end] of closed.entries()) expect(end).toBeLessThan(open[i + 1] ?? Infinity);
});

test('archiving ends the turn and drops the queue', async () => {
  const { talk } = await holdTurn(['p1', 'p2']);
  await world.ok('POST', `${talk.path}:archive`);
  await talk.nth('agent.disposed', 1);
  expect(talk.all('prompt.aborted').map(({ payload }) => payload.promptId)).toEqual(['p0', 'p1', 'p2']);
  expect(await list(talk)).toEqual({ active: null, queued: [] });
  const { ended } = await talk.turn('again', [{ text: 'still here' }]);
  expect(ended.reason).toBe('completed');
});

test('stopping the server ends the turn and drops the queue', async () => {
  const { talk } = await holdTurn(['p1', 'p2']);
  await world.restart();
  expect(await list(talk)).toEqual({ active: null, queued: [] });
  const again = await resumeTalk(world, talk.session);
  expect((await again.nth('prompt.aborted', 3)).payload.promptId).toBe('p2');
  expect(again.all('turn.ended').map(({ payload }) => payload)).toMatchObject([
    { reason: 'cancelled', interruptReason: 'aborted' },
  ]);
  expect(again.all('turn.step.interrupted').map(({ payload }) => payload)).toMatchObject([
    { reason: 'aborted', message: 'server stopping' },
  ]);
  const { frames } = await again.turn('next', [{ text: 'ok' }]);
  expect(frames.find(({ type }) => type === 'turn.started')?.payload.turnId).toBe(1);
});
