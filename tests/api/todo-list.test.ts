/** The todo list: read, written and cleared by the model, and the reminder of an unused list. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { REMIND_AFTER_ANSWERS } from '#server/features/todo-list/todo-list.ts';
import { callThenText, resumeTalk, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const todos = [
  { title: 'Look', status: 'done' },
  { title: 'Think', status: 'in_progress' },
  { title: 'Act', status: 'pending' },
];
const LISTED = '  [done] Look\n  [in_progress] Think\n  [pending] Act';
const write = (talk: Talk, list: object[]) => talk.turn('go', callThenText('TodoList', { todos: list }));
const read = async (talk: Talk) => (await talk.turn('go', callThenText('TodoList', {}))).results[0]?.output;
/** Whether the last request contains the reminder. */
const reminder = () =>
  wireMessages(world, -1)
    .map(wireText)
    .findLast((text) => text.includes('todo list was not written'));
const answer = (talk: Talk) => talk.turn('say something', [{ text: 'Something.' }]);

test('is written, read, replaced and cleared, without approval', async () => {
  const talk = await startTalk(world);
  expect(await read(talk)).toBe('The todo list is empty.');
  expect((await write(talk, todos)).results).toMatchObject([{ output: LISTED, isError: false }]);
  expect(await read(talk)).toBe(LISTED);
  await write(talk, [{ title: 'Rest', status: 'pending' }]);
  expect(await read(talk)).toBe('  [pending] Rest');
  expect((await write(talk, [])).results).toMatchObject([{ output: 'The todo list is empty.', isError: false }]);
  expect(await read(talk)).toBe('The todo list is empty.');
  expect(talk.all('event.approval.requested')).toEqual([]);
  expect(talk.all('tool.call.started').map(({ payload }) => payload.description)).toEqual([
    'Read the todo list',
    'Write a todo list of 3 items',
    'Read the todo list',
    'Write a todo list of 1 items',
    'Read the todo list',
    'Clear the todo list',
    'Read the todo list',
  ]);
  for (const { payload } of talk.all('tool.call.started')) expect(payload).not.toHaveProperty('display');
});

test.each<[string, object]>([
  ['an empty title', { todos: [{ title: '', status: 'done' }] }],
  ['an unknown status', { todos: [{ title: 'Look', status: 'later' }] }],
  ['no list', { todos: 'Look' }],
])('%s is refused, and the list is unchanged', async (_what, args) => {
  const talk = await startTalk(world);
  await write(talk, todos);
  expect((await talk.turn('go', callThenText('TodoList', args))).results).toMatchObject([{ isError: true }]);
  expect(await read(talk)).toBe(LISTED);
});

test('belongs to its session and survives a restart', async () => {
  const talk = await startTalk(world);
  await write(talk, todos);
  expect(await read(await startTalk(world))).toBe('The todo list is empty.');
  await world.restart();
  expect(await read(await resumeTalk(world, talk.session))).toBe(LISTED);
});

describe('the reminder', () => {
  test(`is sent after ${REMIND_AFTER_ANSWERS} answers without a write, and again after as many`, async () => {
    const talk = await startTalk(world);
    await write(talk, todos);
    // The answer that follows the write counts, too.
    for (let count = 1; count < REMIND_AFTER_ANSWERS; count++) {
      await answer(talk);
      expect(reminder()).toBeUndefined();
    }
    await answer(talk);
    expect(reminder()).toContain(LISTED);
    const spliced = talk.all('context.spliced').flatMap(({ payload }) => payload.messages as { origin?: object }[]);
    const told = () => spliced.filter(({ origin }) => JSON.stringify(origin).includes('todo_list_reminder'));
    expect(told()).toHaveLength(1);
    const reminders = () =>
      JSON.stringify(world.model.requests.at(-1)?.body).split('todo list was not written').length - 1;
    for (let count = 1; count < REMIND_AFTER_ANSWERS; count++) await answer(talk);
    expect(reminders()).toBe(1);
    await answer(talk);
    expect(reminders()).toBe(2);
  });

  test('is not sent for an empty list, nor soon after a write', async () => {
    const talk = await startTalk(world);
    await write(talk, todos);
    for (let count = 0; count < REMIND_AFTER_ANSWERS - 2; count++) await answer(talk);
    await write(talk, todos);
    for (let count = 0; count < 3; count++) await answer(talk);
    expect(reminder()).toBeUndefined();
    await write(talk, []);
    for (let count = 0; count <= REMIND_AFTER_ANSWERS; count++) await answer(talk);
    expect(reminder()).toBeUndefined();
  });
});
