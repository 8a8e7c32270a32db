/** The todo list as the page reads it from the agent's calls. */
import { describe, expect, it } from 'vitest';
import { currentTodos, progressOf, todoViews } from '../../../web/features/todo-list/todos.ts';
import { createToolViews } from '../../../web/render/tool-view.ts';
import { frameMaker, message, play, reduce, snapshot, text, type Draft } from './session-frames.ts';

const first = [
  { title: 'Read', status: 'in_progress' },
  { title: 'Write', status: 'pending' },
];
const second = [
  { title: 'Read', status: 'done' },
  { title: 'Write', status: 'in_progress' },
];

const call = (id: string, args: object, name = 'TodoList', agent = 'main'): Draft => ({
  type: 'tool.call.started',
  agent,
  payload: { turnId: 0, toolCallId: id, name, args },
});
const result = (id: string, output: string, isError?: true): Draft => ({
  type: 'tool.result',
  payload: { turnId: 0, toolCallId: id, output, ...(isError && { isError }) },
});
const begun = [
  { type: 'snapshot' as const, snapshot: snapshot() },
  { type: 'turn.started', payload: { turnId: 0, promptId: 'p1', origin: { kind: 'user' } } } as Draft,
  { type: 'turn.step.started', payload: { turnId: 0, step: 1, stepId: 's1' } } as Draft,
];
const made = (id: string, todos: object[] | undefined, output = '') => [
  message(`m_${id}`, 'assistant', [
    { type: 'tool_use', tool_call_id: id, tool_name: 'TodoList', input: todos ? { todos } : {} },
  ]),
  message(`r_${id}`, 'tool', [{ type: 'tool_result', tool_call_id: id, output }]),
];
const shown = (items: ReturnType<typeof message>[]) =>
  currentTodos(play([{ type: 'snapshot', snapshot: snapshot({ messages: { items, has_more: true } }) }]));

describe('the current list', () => {
  it('is what the newest successful call wrote', () => {
    const running = play([...begun, call('t1', { todos: first })]);
    expect(currentTodos(running)).toEqual([]);
    const written = play([result('t1', 'Todo list updated.')], running, frameMaker(10));
    expect(currentTodos(written)).toEqual(first);
    const failed = play([call('t2', { todos: second }), result('t2', 'no', true)], written, frameMaker(20));
    expect(currentTodos(failed)).toEqual(first);
    const replaced = play([call('t3', { todos: second }), result('t3', 'ok')], failed, frameMaker(30));
    expect(currentTodos(replaced)).toEqual(second);
    const cleared = play([call('t4', { todos: [] }), result('t4', 'ok')], replaced, frameMaker(40));
    expect(currentTodos(cleared)).toEqual([]);
  });

  it('is not that of another agent', () => {
    const view = play([...begun, call('t1', { todos: first }, 'TodoList', 'agent-1'), result('t1', 'ok')]);
    expect(currentTodos(view)).toEqual([]);
  });

  it('comes from the message history, also when only a reader is left of it', () => {
    expect(shown([...made('t1', first), ...made('t2', second), message('m9', 'assistant', text('Done.'))])).toEqual(
      second,
    );
    expect(shown(made('t3', undefined, 'Current todo list:\n  [done] Read\n  [in_progress] Write\n'))).toEqual(second);
    expect(shown([...made('t1', first), ...made('t2', undefined, 'The todo list is empty.')])).toEqual(first);
  });

  it('goes back with an undo', () => {
    const before = [...made('t1', first)];
    const items = [...before, ...made('t2', second)];
    const view = play([{ type: 'snapshot', snapshot: snapshot({ messages: { items, has_more: false } }) }]);
    const undone = reduce(view, {
      type: 'snapshot',
      snapshot: snapshot({ messages: { items: before, has_more: false } }),
    });
    expect(currentTodos(undone)).toEqual(first);
  });

  it('leaves out what is no todo', () => {
    const odd = [{ title: 'Read', status: 'done' }, { title: 'x', status: 'someday' }, { status: 'done' }, null, 'x'];
    const [use, answer] = made('t1', odd as object[]);
    expect(shown(use && answer ? [use, answer] : [])).toEqual([{ title: 'Read', status: 'done' }]);
  });
});

it('tells how far it is and what comes now', () => {
  expect(progressOf(second as never)).toEqual({ done: 1, total: 2, now: 'Write' });
  expect(progressOf([{ title: 'Read', status: 'done' }])).toEqual({ done: 1, total: 1, now: undefined });
});

it('draws a call as its list', () => {
  const { ofCall, ofDisplay } = createToolViews([todoViews]);
  const drawn = (input: unknown, output?: string) =>
    ofCall({ name: 'TodoList', input, output, label: undefined, display: undefined });
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
