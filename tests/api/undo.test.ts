/** Undo: removes the last turns of a conversation; their effects on files stay. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crashedHome } from '#support/crash.ts';
import { startServer } from '#support/server.ts';
import { call, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';
import type { Message } from '#schema/rest/message.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

interface Undone {
  messages: { items: Message[]; has_more: boolean };
  status: Record<string, unknown>;
}
const undo = async ({ path }: Talk, body?: unknown) =>
  (await world.ok('POST', `${path}:undo`, body)) as unknown as Undone;
const textOf = ({ content }: Message) => content.map((part) => (part.type === 'text' ? part.text : '')).join('');
const said = (messages: Message[]) => messages.map(textOf).filter((text) => !text.includes('system-reminder'));

test('removes the last turn with its prompt from messages, list and the next request', async () => {
  const talk = await startTalk(world);
  await talk.turn('One', [{ text: 'First.' }]);
  const before = await talk.messages();
  const status = await talk.status();
  await talk.turn('Two', [{ calls: [call('Write', { path: 'kept.txt', content: 'x' })] }, { text: 'Second.' }], {
    permission_mode: 'yolo',
  });
  const undone = await undo(talk);
  expect(undone.messages).toEqual({ items: before.toReversed(), has_more: false });
  expect(undone.status).toEqual({ ...status, permission: 'yolo' });
  expect(await talk.messages()).toEqual(before);
  expect(await world.ok('GET', talk.path)).toMatchObject({ last_prompt: 'One' });
  await talk.turn('Three', [{ text: 'Third.' }]);
  expect(wireMessages(world, -1).map(wireText).join()).not.toContain('Two');
  expect(said(await talk.messages())).toEqual(['One', 'First.', 'Three', 'Third.']);
  // Turn numbers are never reused.
  expect(talk.all('turn.started').map(({ payload }) => payload.turnId)).toEqual([0, 1, 2]);
});

test('removes all requested turns or none', async () => {
  const talk = await startTalk(world);
  const refused = async (body: unknown, data: unknown) => {
    const answer = await world.api('POST', `${talk.path}:undo`, body);
    expect(answer).toMatchObject({ code: 40911, data });
    return answer.msg;
  };
  expect(await refused(undefined, { reason: 'empty', requestedCount: 1, undoableCount: 0 })).toBe(
    'Nothing to undo: no user message to undo',
  );
  await talk.turn('One', [{ text: 'First.' }]);
  await talk.turn('Two', [{ text: 'Second.' }]);
  expect(await refused({ count: 3 }, { reason: 'insufficient', requestedCount: 3, undoableCount: 2 })).toBe(
    'Nothing to undo: only 2 of 3 requested turn(s) available',
  );
  expect(talk.all('context.undone')).toEqual([]);
  const undone = await undo(talk, { count: 2 });
  expect(said(undone.messages.items)).toEqual([]);
  expect(await world.ok('GET', talk.path)).not.toHaveProperty('last_prompt');
  expect(await talk.nth('context.undone', 1)).toMatchObject({ payload: { turns: 2 } });
});

test('is refused while a turn runs', async () => {
  const talk = await startTalk(world);
  await talk.turn('One', [{ text: 'First.' }]);
  const { model } = world;
  const held = model.enqueue({ text: 'Second.', hold: true });
  const { prompt_id } = await world.prompt(talk.session.id, 'Two');
  await held.sent;
  expect(await world.api('POST', `${talk.path}:undo`)).toMatchObject({
    code: 40901,
    msg: 'Cannot undo while a turn is active or queued. Wait for it to finish, then retry.',
    data: null,
  });
  held.release();
  await talk.settled(prompt_id);
  await undo(talk);
  expect(said(await talk.messages())).toEqual(['One', 'First.']);
});

test('looks up the session before it checks the body', async () => {
  const talk = await startTalk(world);
  for (const body of [{ count: 0 }, { count: 1.5 }, { count: '1' }, { page_size: 0 }, { page_size: 101 }, []]) {
    expect(await world.api('POST', `${talk.path}:undo`, body)).toMatchObject({ code: 40001 });
  }
  expect(await world.api('POST', '/sessions/session_none:undo', { count: 0 })).toMatchObject({ code: 40401 });
});

test('counts steered prompts separately; reverts todos, keeps files', async () => {
  const talk = await startTalk(world);
  const todo = (title: string) => call('TodoList', { todos: [{ title, status: 'pending' }] });
  await talk.turn('Plan', [{ calls: [todo('one')] }, { text: 'Planned.' }], { permission_mode: 'yolo' });
  const { model } = world;
  model.enqueue({ calls: [call('Bash', { command: 'until [ -e go ]; do sleep 0.02; done' }), todo('two')] });
  model.enqueue({ calls: [todo('three'), call('Write', { path: 'made.txt', content: 'made\n' })] });
  model.enqueue({ text: 'Done.' });
  const { prompt_id } = await world.prompt(talk.session.id, 'Work');
  await talk.nth('tool.call.started', 2);
  const steered = await world.prompt(talk.session.id, 'And this');
  await world.ok('POST', `${talk.path}/prompts:steer`, { prompt_ids: [steered.prompt_id] });
  await writeFile(join(world.project, 'go'), '');
  await talk.settled(prompt_id);
  const transcript = async () =>
    (await world.ok('GET', `${talk.path}/transcript?agent_id=main`)) as unknown as {
      items: { turnId?: string; marker?: string; state?: string; steps?: { stepId: string }[] }[];
      todos: { items: { title: string }[] }[];
    };
  const shape = ({ items }: Awaited<ReturnType<typeof transcript>>) =>
    items.map(({ turnId, marker, state, steps }) => marker ?? [turnId, state, steps?.map(({ stepId }) => stepId)]);
  expect(shape(await transcript())).toEqual([
    ['t0', 'completed', ['t0.1', 't0.2']],
    ['t1', 'completed', ['t1.1', 't1.2', 't1.3']],
  ]);

  await undo(talk);
  let page = await transcript();
  expect(shape(page)).toEqual([['t0', 'completed', ['t0.1', 't0.2']], ['t1', 'completed', ['t1.1']], 'undo']);
  expect(page.todos[0]?.items.map(({ title }) => title)).toEqual(['two']);
  expect(said(await talk.messages()).join()).not.toContain('And this');
  expect(await world.ok('GET', talk.path)).toMatchObject({ last_prompt: 'Work' });

  await undo(talk);
  page = await transcript();
  expect(shape(page)).toEqual([['t0', 'completed', ['t0.1', 't0.2']], 'undo']);
  expect(page.todos[0]?.items.map(({ title }) => title)).toEqual(['one']);
  expect(await readFile(join(world.project, 'made.txt'), 'utf8')).toBe('made\n');
  const cold = await crashedPage(talk);
  expect(cold.items).toEqual(page.items);
  expect(cold.todos).toEqual(page.todos);
});

/** The transcript that another server reads from a copy of the files. */
async function crashedPage({ session, path }: Talk) {
  const home = await crashedHome(world.server.home, session);
  const server = await startServer({ home });
  try {
    const { data } = await server.api('GET', `${path}/transcript?agent_id=main`);
    return data as unknown as { items: unknown[]; todos: unknown[] };
  } finally {
    await server.close();
    await rm(home, { recursive: true, force: true });
  }
}

test('removes the message of a hook with its prompt, including that of a refused prompt', async () => {
  const hooks = [
    { event: 'UserPromptSubmit', matcher: 'two', command: 'echo "more of it"' },
    { event: 'UserPromptSubmit', matcher: 'three', command: 'echo no >&2; exit 2' },
  ];
  const hooked = await startWorld({ config: { hooks } });
  try {
    const talk = await startTalk(hooked);
    await talk.turn('one', [{ text: 'First.' }]);
    const before = await talk.messages();
    await talk.turn('two', [{ text: 'Second.' }]);
    await talk.turn('three', []);
    const all = await talk.messages();
    expect(all.map(({ metadata }) => metadata?.origin.kind).filter((kind) => kind === 'hook_result')).toHaveLength(2);
    const undone = (await hooked.ok('POST', `${talk.path}:undo`, { count: 2 })) as unknown as Undone;
    expect(undone.messages.items.toReversed()).toEqual(before);
    expect(await talk.messages()).toEqual(before);
    const { items } = (await hooked.ok('GET', `${talk.path}/transcript?agent_id=main`)) as {
      items: { turnId?: string; marker?: string }[];
    };
    expect(items.map(({ turnId, marker }) => turnId ?? marker)).toEqual(['t0', 'undo']);
  } finally {
    await hooked.close();
  }
});

test('a notification that was undone with its turn is sent again in the next turn, not before', async () => {
  const talk = await startTalk(world);
  await talk.turn('One', [{ text: 'First.' }], { permission_mode: 'yolo' });
  await talk.turn('Two', [
    {
      calls: [
        call('Bash', {
          command: 'until [ -e begun ]; do sleep 0.01; done',
          run_in_background: true,
          description: 'Waits for the end of the turn',
        }),
      ],
    },
    { text: 'Begun.' },
  ]);
  world.model.enqueue({ text: 'Heard.' });
  // A task that ends before its turn is reported in that turn.
  await writeFile(join(world.project, 'begun'), '');
  await talk.nth('task.notified', 1);
  await expect.poll(async () => (await talk.status()).busy).toBe(false);
  const told = talk.all('task.notified').length;
  expect(told).toBe(1);
  const turns = talk.all('turn.started').length;
  await undo(talk);
  expect(said(await talk.messages()).join()).not.toContain('notification');
  await talk.turn('Three', [{ text: 'Third.' }]);
  expect(talk.all('task.notified')).toHaveLength(2);
  expect(talk.all('turn.started')).toHaveLength(turns + 1);
  expect(wireMessages(world, -1).map(wireText).join()).toContain('Background task completed');
  await talk.turn('Four', [{ text: 'Fourth.' }]);
  expect(talk.all('task.notified')).toHaveLength(2);
});

test('works on a cold session; concurrent requests undo one turn each', async () => {
  const talk = await startTalk(world);
  for (const text of ['One', 'Two', 'Three']) await talk.turn(text, [{ text: `${text}.` }]);
  await world.restart();
  const answers = await Promise.all([undo(talk), undo(talk, { page_size: 1 })]);
  const last = answers.toSorted((a, b) => a.messages.items.length - b.messages.items.length)[0];
  expect(last?.messages.items).toHaveLength(1);
  expect(last?.messages.has_more).toBe(true);
  expect(said(await talk.messages())).toEqual(['One', 'One.']);
  expect(await world.ok('GET', talk.path)).toMatchObject({ last_prompt: 'One' });
});
