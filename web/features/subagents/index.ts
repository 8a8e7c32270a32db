import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import { subagentViews } from './views.ts';

const SubagentCards = defineAsyncComponent(() => import('./SubagentCards.vue'));
const TaskBody = defineAsyncComponent(() => import('./TaskBody.vue'));

export const subagents: Feature = { ...subagentViews, bodies: { task: TaskBody }, cards: SubagentCards };
