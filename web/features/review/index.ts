import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';

/** Loaded when its tab is first opened. */
const ReviewPanel = defineAsyncComponent(() => import('./ReviewPanel.vue'));

export const review: Feature = {
  panels: [{ id: 'review', label: t('review.title'), icon: 'file-diff', keys: 'Mod+Shift+D', component: ReviewPanel }],
};
