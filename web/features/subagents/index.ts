import type { Feature } from '../feature.ts';
import { subagentsPart } from './part.ts';
import SubagentCards from './SubagentCards.vue';
import TaskBody from './TaskBody.vue';
import { subagentViews } from './views.ts';

export const subagents: Feature = {
  ...subagentViews,
  part: subagentsPart,
  bodies: { task: TaskBody },
  cards: SubagentCards,
};
