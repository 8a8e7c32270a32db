/** The agent's todo list, and views of the calls that write and read it. */
import { t, type PlainKey } from '../../messages/messages.ts';
import { type Args, type DrawnCall, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';
import type { SessionView } from '../../state/session-view.ts';
import { outputText } from '../../state/tool-call.ts';

const TOOL = 'TodoList';
const statuses = ['pending', 'in_progress', 'done'] as const;

export interface Todo {
  title: string;
  status: (typeof statuses)[number];
}
export type TodoBody = { kind: 'todos'; todos: Todo[] };

/** The list that a call writes; undefined for a call that only reads. */
export function writtenTodos(args: Args): Todo[] | undefined {
  const { todos } = args;
  return Array.isArray(todos) ? todos.flatMap((item: unknown) => todoOf(item) ?? []) : undefined;
}

function todoOf(item: unknown): Todo | undefined {
  if (typeof item !== 'object' || item === null || !('title' in item) || !('status' in item)) return undefined;
  const status = statuses.find((name) => name === item.status);
  return typeof item.title === 'string' && status ? { title: item.title, status } : undefined;
}

/** Parses the list in a result, whose lines read `[status] title`. */
export function printedTodos(output: string): Todo[] {
  return output.split('\n').flatMap((line) => {
    const [, word, title = ''] = /^\s*\[(\w+)\] (.+)$/.exec(line) ?? [];
    const status = statuses.find((name) => name === word);
    return status ? [{ title, status }] : [];
  });
}

export const currentTodos = ({ main }: Pick<SessionView, 'main'>): readonly Todo[] =>
  main.todos.get('todo')?.items ?? [];

const argsOf = ({ input }: Pick<DrawnCall, 'input'>): Args =>
  typeof input === 'object' && input !== null ? { ...input } : {};
const isWrite = (call: Pick<DrawnCall, 'input'>) => writtenTodos(argsOf(call)) !== undefined;
const todosOf = (call: Pick<DrawnCall, 'input' | 'output'>): Todo[] =>
  writtenTodos(argsOf(call)) ?? printedTodos(outputText(call.output));

/** The counts, and the current item or else the next one. */
export function progressOf(todos: readonly Todo[]): { done: number; total: number; now: string | undefined } {
  const done = todos.filter(({ status }) => status === 'done').length;
  const now = todos.find(({ status }) => status === 'in_progress') ?? todos.find(({ status }) => status === 'pending');
  return { done, total: todos.length, now: now?.title };
}

function summary(todos: Todo[], name: PlainKey): ToolSummary {
  const verb = t(name);
  if (!todos.length) return { verb, subject: '', prose: true };
  const { done, total } = progressOf(todos);
  const body: TodoBody = { kind: 'todos', todos };
  return { verb, subject: t('plans.todo-progress', { done, total }), prose: true, body, output: 'on failure' };
}

export const todoViews: ToolViews = {
  tools: {
    [TOOL]: (_, call) =>
      summary(todosOf(call), call.input === undefined || isWrite(call) ? 'tools.todos' : 'tools.readTodos'),
  },
  displays: {
    todo_list: ({ items }) => summary(writtenTodos({ todos: items }) ?? [], 'tools.todos'),
  },
};
