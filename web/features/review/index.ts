import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';

const PANEL = 'review';

export const review: Feature = {
  panels: [
    {
      id: PANEL,
      label: t('review.title'),
      icon: 'file-diff',
      component: defineAsyncComponent(() => import('./ReviewPanel.vue')),
    },
  ],
  commands: [
    {
      id: 'review.open',
      title: 'review.open',
      icon: 'file-diff',
      keys: 'Mod+Shift+D',
      when: ({ pane }) => pane !== undefined,
      run({ pane }) {
        if (pane) pane.panel.value = PANEL;
      },
    },
  ],
};
