import type { Feature } from '../feature.ts';
import SubagentCards from './SubagentCards.vue';
import TaskBody from './TaskBody.vue';
import { subagentViews } from './views.ts';

export const subagents: Feature = { ...subagentViews, bodies: { task: TaskBody }, cards: SubagentCards };
