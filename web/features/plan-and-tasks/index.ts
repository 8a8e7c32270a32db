import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';

const PANEL = 'plan-and-tasks';

export const planAndTasks: Feature = {
  panels: [
    {
      id: PANEL,
      label: t('plans.title'),
      icon: 'list-todo',
      component: defineAsyncComponent(() => import('./PlanPanel.vue')),
    },
  ],
  commands: [
    {
      id: 'plans.open',
      title: 'plans.open',
      icon: 'list-todo',
      when: ({ pane }) => pane !== undefined,
      run({ pane }) {
        if (pane) pane.panel.value = PANEL;
      },
    },
  ],
};
