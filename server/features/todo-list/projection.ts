/** The todo list of each agent, and the number of answers since the model last wrote it. */
import { defineFeatureProjection } from '#server/journal/projections/feature-projection.ts';

export interface Todo {
  title: string;
  status: string;
}

export interface TodoListState {
  todos: readonly Todo[];
  /** Answers of the model since it last wrote the list, and since its last reminder. */
  answersSinceWrite: number;
  answersSinceReminder: number;
}

/** Variant of the reminder's origin. */
export const TODO_REMINDER = 'todo_list_reminder';

const empty: TodoListState = { todos: [], answersSinceWrite: 0, answersSinceReminder: 0 };

/** Lists by agent id; they are replaced, never mutated. */
type TodoLists = Map<string, TodoListState>;

export const todoLists = defineFeatureProjection<TodoLists, TodoListState>({
  name: 'todo-list',
  initial: () => new Map(),
  apply(lists, record) {
    const { agent } = record;
    if (record.type === 'tool.result' && record.x?.todos) {
      const { todos } = record.x;
      lists.set(agent, { ...todoListOf(lists, agent), todos, answersSinceWrite: 0 });
    } else if (record.type === 'step.response') {
      const { todos, answersSinceWrite, answersSinceReminder } = todoListOf(lists, agent);
      const more = { answersSinceWrite: answersSinceWrite + 1, answersSinceReminder: answersSinceReminder + 1 };
      lists.set(agent, { todos, ...more });
    } else if (record.type === 'context.spliced') {
      const reminded = record.messages.some(
        ({ origin }) => origin?.kind === 'injection' && origin.variant === TODO_REMINDER,
      );
      if (reminded) lists.set(agent, { ...todoListOf(lists, agent), answersSinceReminder: 0 });
    }
  },
  undo: {
    checkpoint: todoListOf,
    restore: (lists, agent, saved) => void lists.set(agent, saved),
  },
});

/** The list of an agent; empty before its first write. */
export function todoListOf(lists: TodoLists, agent: string): TodoListState {
  return lists.get(agent) ?? empty;
}
