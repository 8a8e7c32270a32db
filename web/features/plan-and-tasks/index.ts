import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';

/** Loaded when its tab is first opened. */
const PlanPanel = defineAsyncComponent(() => import('./PlanPanel.vue'));

export const planAndTasks: Feature = {
  panels: [{ id: 'plan-and-tasks', label: t('plans.title'), icon: 'list-todo', component: PlanPanel }],
};
