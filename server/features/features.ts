/** All features. Where several append to the same line, their records follow this order. */
import type { Feature } from '#server/agent/contract/feature.ts';
import { btw } from './btw/btw.ts';
import { compaction } from './compaction/compaction.ts';
import { cron } from './cron/cron.ts';
import { goals } from './goals/goals.ts';
import { hooks } from './hooks/hooks.ts';
import { mcp } from './mcp/mcp.ts';
import { media } from './media/media.ts';
import { planMode } from './plan-mode/plan-mode.ts';
import { plugins } from './plugins/plugins.ts';
import { questions } from './questions/questions.ts';
import { skills } from './skills/skills.ts';
import { subagents } from './subagents/subagents.ts';
import { swarm } from './swarm/swarm.ts';
import { tasks } from './tasks/tasks.ts';
import { todoList } from './todo-list/todo-list.ts';
import { toolSelection } from './tool-selection/tool-selection.ts';
import { web } from './web/web.ts';

export const features: readonly Feature[] = [
  hooks,
  media,
  todoList,
  skills,
  plugins,
  questions,
  planMode,
  swarm,
  goals,
  subagents,
  btw,
  tasks,
  cron,
  web,
  compaction,
  toolSelection,
  mcp,
];
