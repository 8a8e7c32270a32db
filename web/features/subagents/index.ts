import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';
import { subagentViews } from './views.ts';

const SubagentCards = defineAsyncComponent(() => import('./SubagentCards.vue'));
const TaskBody = defineAsyncComponent(() => import('./TaskBody.vue'));

const AgentsPanel = defineAsyncComponent(() => import('./AgentsPanel.vue'));

export const subagents: Feature = {
  ...subagentViews,
  bodies: { task: TaskBody },
  cards: SubagentCards,
};

/** A separate feature, so that its tab follows Plan and tasks. */
export const agentsPanel: Feature = {
  panels: [{ id: 'agents', label: t('agents.title'), icon: 'bot', component: AgentsPanel }],
};
