/** TodoList: reads or replaces the model's list of its work. */
import * as z from 'zod';
import { defineTool, type Tool } from '#server/tools/tool.ts';
import type { Todo } from './projection.ts';

export const TODO_LIST = 'TodoList';

const parameters = z.object({
  todos: z
    .array(
      z.object({
        title: z.string().min(1).describe('What is to be done, in a short phrase.'),
        status: z.enum(['pending', 'in_progress', 'done']),
      }),
    )
    .optional()
    .describe('The whole new list. An empty array clears it. Leave it out to read the present list.'),
});

const DESCRIPTION = `Keep a list of what has to be done in the present work, and show it to the user.

Use it for work of several steps. Write the whole list each time; keep one item in_progress while you work on it and set it to done as soon as it is. Without \`todos\` the list is only read.`;

/** One line per item. */
export function listed(todos: readonly Todo[]): string {
  if (todos.length === 0) return 'The todo list is empty.';
  return todos.map(({ title, status }) => `  [${status}] ${title}`).join('\n');
}

/** `present` returns the list as folded from the journal. */
export function createTodoListTool(present: () => readonly Todo[]): Tool {
  return defineTool({
    name: TODO_LIST,
    permission: 'free',
    effects: 'none',
    description: DESCRIPTION,
    parameters,
    prepare({ todos }) {
      const count = todos?.length ?? 0;
      const write = todos && (count === 0 ? 'Clear the todo list' : `Write a todo list of ${count} items`);
      return {
        accesses: [],
        label: write ?? 'Read the todo list',
        subject: { match: 'literal' },
        run: async () => (todos ? { output: listed(todos), x: { todos } } : { output: listed(present()) }),
      };
    },
  });
}
