/** The todo list that the page reads from the agent's calls. */
import { expect, it } from 'vitest';
import type { TranscriptOp } from '@service-code/client';
import {
  currentTodos,
  printedTodos,
  progressOf,
  todoViews,
  writtenTodos,
  type Todo,
} from '../../../web/features/todo-list/todos.ts';
import { createToolViews } from '../../../web/render/tool-view.ts';
import { viewOf } from './transcripts.ts';

const first: Todo[] = [
  { title: 'Read', status: 'in_progress' },
  { title: 'Write', status: 'pending' },
];
const second: Todo[] = [
  { title: 'Read', status: 'done' },
  { title: 'Write', status: 'in_progress' },
];

it('is the list of the transcript, and is restored by an undo', () => {
  const written = (todos: typeof first): TranscriptOp => ({
    op: 'todo.upsert',
    todo: { todoId: 'todo', items: todos },
  });
  expect(currentTodos(viewOf([]))).toEqual([]);
  expect(currentTodos(viewOf([written(first), written(second)]))).toEqual(second);
  expect(currentTodos(viewOf([], { 'agent-1': [written(first)] }))).toEqual([]);
});

it('omits invalid items', () => {
  const odd = [{ title: 'Read', status: 'done' }, { title: 'x', status: 'someday' }, { status: 'done' }, null, 'x'];
  expect(writtenTodos({ todos: odd })).toEqual([{ title: 'Read', status: 'done' }]);
  expect(printedTodos('Current todo list:\n  [done] Read\n  [someday] x\n')).toEqual([
    { title: 'Read', status: 'done' },
  ]);
});

it('has the progress and the current item', () => {
  expect(progressOf(second)).toEqual({ done: 1, total: 2, now: 'Write' });
  expect(progressOf([{ title: 'Read', status: 'done' }])).toEqual({ done: 1, total: 1, now: undefined });
});

it('draws a call as its list', () => {
  const { ofCall, ofDisplay } = createToolViews([todoViews]);
  const drawn = (input: unknown, output?: string) => ofCall({ name: 'TodoList', input, output });
  expect(drawn({ todos: second })).toMatchObject({
    verb: 'Todos',
    subject: '1 of 2 done',
    body: { kind: 'todos', todos: second },
    output: 'on failure',
  });
  expect(drawn({}, '  [pending] Write')).toMatchObject({ verb: 'Read todos', subject: '0 of 1 done' });
  expect(drawn({ todos: [] }, 'Cleared.')).toEqual({ verb: 'Todos', subject: '', prose: true });
  expect(drawn('not json')).toMatchObject({ subject: '' });
  expect(ofDisplay('TodoList', { kind: 'todo_list', items: second })).toMatchObject({ subject: '1 of 2 done' });
});
