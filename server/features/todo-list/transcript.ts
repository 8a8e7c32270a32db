/** The todo list in the transcript. */
import { findTool } from '#server/transcript/agent-transcript.ts';
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

export const todoListTranscript: TranscriptRows = {
  'tool.call.started'(agent, { toolCallId, name, args }) {
    const found = name === TODO_LIST && carriesList(args) ? findTool(agent, toolCallId) : undefined;
    if (!found) return [];
    const { frame, ...place } = found;
    return [{ op: 'frame.upsert', ...place, frame: { ...frame, todoId: TODO_ID } }];
  },
  'tool.result'(_agent, { x }, t) {
    const items: unknown = x?.todos;
    return isList(items) ? [{ op: 'todo.upsert', todo: { todoId: TODO_ID, items, updatedAt: iso(t) } }] : [];
  },
};
