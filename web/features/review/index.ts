import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';

/** Loaded when its tab is first opened. */
const ReviewPanel = defineAsyncComponent(() => import('./ReviewPanel.vue'));

export const review: Feature = {
  panels: [
    {
      id: 'review',
      label: t('review.title'),
      icon: 'file-diff',
      keys: 'Mod+Shift+D',
      ownKeys: [
        { keys: 'N', title: 'review.next' },
        { keys: 'P', title: 'review.previous' },
        { keys: 'C', title: 'review.comment' },
        { keys: 'V', title: 'review.mark-viewed' },
      ],
      component: ReviewPanel,
    },
  ],
};
