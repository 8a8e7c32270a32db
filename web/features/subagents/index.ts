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

/** Listed for the place of its tab. */
export const agentsPanel: Feature = {
  panels: [{ id: 'agents', label: t('agents.title'), icon: 'bot', component: AgentsPanel }],
};
