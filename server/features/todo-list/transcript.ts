/** The todo list in the transcript, and its restore by an undo. */
import * as z from 'zod';
import { toolOps, type AgentTranscript } from '#server/transcript/agent-transcript.ts';
import { sameValue } from '#server/transcript/reducer/equal.ts';
import type { StoredValue, StoredOp } from '#server/transcript/reducer/state.ts';
import type { RecordMappers, TranscriptUndo } from '#server/transcript/transcript-rows.ts';
import { iso } from '#schema/scalars.ts';
import type { Todo } from '#schema/rest/transcript.ts';
import { TODO_LIST } from './tool.ts';

const TODO_ID = 'todo';

/** The items in a transcript's form; a separate schema, because importing the transcripts' builds all of those. */
const itemsSchema = z.array(z.object({ title: z.string(), status: z.enum(['pending', 'in_progress', 'done']) }));
const argumentsSchema = z.object({ todos: itemsSchema });

/** Attaches the todo list to the call that writes it. */
function showing(agent: AgentTranscript, toolCallId: string): StoredOp[] {
  return toolOps(agent, toolCallId, { todoId: TODO_ID });
}

export const todoListTranscript: RecordMappers = {
  // A first write is attached only with its result: there is no list to refer to yet, and the call may fail.
  'tool.call.started': (agent, { toolCallId, name, args }) =>
    name === TODO_LIST && agent.state.todos.has(TODO_ID) && argumentsSchema.safeParse(args).success
      ? showing(agent, toolCallId)
      : [],
  'tool.result'(agent, { toolCallId, x }, t) {
    const items = x?.todos && itemsSchema.safeParse(x.todos).data;
    if (!items) return [];
    return [...showing(agent, toolCallId), { op: 'todo.upsert', todo: { todoId: TODO_ID, items, updatedAt: iso(t) } }];
  },
};

export const todoListUndo: TranscriptUndo<readonly StoredValue<Todo>[]> = {
  checkpoint: ({ todos }) => [...todos.values()],
  restore: ({ todos }, saved) =>
    [...todos.values()].flatMap((todo): StoredOp[] => {
      const before = saved.find(({ todoId }) => todoId === todo.todoId) ?? { todoId: todo.todoId, items: [] };
      return sameValue(before, todo) ? [] : [{ op: 'todo.upsert', todo: before }];
    }),
};
