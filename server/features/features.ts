/** What features there are, in the order in which their records stand where several share a line. */
import type { Feature } from '#server/agent/feature.ts';
import { btw } from './btw/btw.ts';
import { compaction } from './compaction/compaction.ts';
import { goals } from './goals/goals.ts';
import { hooks } from './hooks/hooks.ts';
import { mcp } from './mcp/mcp.ts';
import { media } from './media/media.ts';
import { planMode } from './plan-mode/plan-mode.ts';
import { questions } from './questions/questions.ts';
import { subagents } from './subagents/subagents.ts';
import { tasks } from './tasks/tasks.ts';
import { todoList } from './todo-list/todo-list.ts';

export const features: readonly Feature[] = [
  hooks,
  media,
  todoList,
  questions,
  planMode,
  goals,
  subagents,
  btw,
  tasks,
  compaction,
  mcp,
];
