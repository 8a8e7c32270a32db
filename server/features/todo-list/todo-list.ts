/** The todo list: a tool that reads and writes it, and a reminder for a model that has not written it for a while. */
import type { AgentContext } from '#server/agent/contract/context.ts';
import type { Feature } from '#server/agent/contract/feature.ts';
import { reminder } from '#server/agent/prompt/reminders.ts';
import type { Tool } from '#server/tools/tool.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { todoListOf, todoLists, TODO_REMINDER, type TodoListState } from './projection.ts';
import { createTodoListTool, listed } from './tool.ts';
import { todoListTranscript, todoListUndo } from './transcript.ts';

/** Number of answers since the last write and since the last reminder after which a reminder is due. */
export const REMIND_AFTER_ANSWERS = 10;

const listOf = ({ id, log }: AgentContext): TodoListState => todoListOf(todoLists.of(log.state.features), id);

export const todoList: Feature = {
  name: 'todo-list',
  projection: todoLists,
  transcript: todoListTranscript,
  transcriptUndo: todoListUndo,
  open() {
    const tools = new Map<string, readonly Tool[]>();
    return {
      tools(agent) {
        const made = tools.get(agent.id) ?? [createTodoListTool(() => listOf(agent).todos)];
        tools.set(agent.id, made);
        return made;
      },
      summary(agent) {
        const { todos } = listOf(agent);
        return todos.length === 0 ? '' : `## TODO List\n${listed(todos)}`;
      },
      reminders(agent) {
        const { todos, answersSinceWrite, answersSinceReminder } = listOf(agent);
        if (agent.id !== MAIN_AGENT || todos.length === 0) return [];
        if (Math.min(answersSinceWrite, answersSinceReminder) < REMIND_AFTER_ANSWERS) return [];
        const text = `The todo list was not written for a while. Bring it up to date if it no longer fits the work; do not mention this to the user. It reads:\n${listed(todos)}`;
        return [reminder(TODO_REMINDER, text)];
      },
    };
  },
};
