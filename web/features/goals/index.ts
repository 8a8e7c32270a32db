import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import { goalViews } from './views.ts';

const GoalBody = defineAsyncComponent(() => import('./GoalBody.vue'));
const GoalChip = defineAsyncComponent(() => import('./GoalChip.vue'));
const GoalStartCard = defineAsyncComponent(() => import('./GoalStartCard.vue'));
const GoalStrip = defineAsyncComponent(() => import('./GoalStrip.vue'));

export const goals: Feature = {
  ...goalViews,
  bodies: { goal: GoalBody },
  approvalCards: { goal_start: GoalStartCard },
  strip: GoalStrip,
  picker: GoalChip,
};
