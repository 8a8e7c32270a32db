/** The todo list in the transcript. */
import { toolOps, type AgentTranscript } from '#server/transcript/agent-transcript.ts';
import type { HeldOp } from '#server/transcript/reducer/state.ts';
import type { TranscriptRows } from '#server/transcript/transcript-rows.ts';
import { iso } from '#schema/scalars.ts';
import type { Todo } from '#schema/transcript.ts';
import { TODO_LIST } from './tool.ts';

const TODO_ID = 'todo';

type TodoItem = Todo['items'][number];

// Looked at by hand: the schemas of transcripts are not built before a client reads one.
const isItem = (item: unknown): item is TodoItem =>
  typeof item === 'object' &&
  item !== null &&
  'title' in item &&
  typeof item.title === 'string' &&
  'status' in item &&
  (item.status === 'pending' || item.status === 'in_progress' || item.status === 'done');

const isList = (value: unknown): value is TodoItem[] => Array.isArray(value) && value.every(isItem);

const carriesList = (args: unknown) =>
  typeof args === 'object' && args !== null && 'todos' in args && isList(args.todos);

/** The call shows the list that it writes. */
function showing(agent: AgentTranscript, toolCallId: string): HeldOp[] {
  return toolOps(agent, toolCallId, { todoId: TODO_ID });
}

export const todoListTranscript: TranscriptRows = {
  // Before the first list is written there is none to be shown, and the call may yet fail.
  'tool.call.started': (agent, { toolCallId, name, args }) =>
    name === TODO_LIST && carriesList(args) && agent.state.todos.has(TODO_ID) ? showing(agent, toolCallId) : [],
  'tool.result'(agent, { toolCallId, x }, t) {
    const items: unknown = x?.todos;
    if (!isList(items)) return [];
    return [...showing(agent, toolCallId), { op: 'todo.upsert', todo: { todoId: TODO_ID, items, updatedAt: iso(t) } }];
  },
};
