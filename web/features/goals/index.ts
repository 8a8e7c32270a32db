import type { Feature } from '../feature.ts';
import GoalBody from './GoalBody.vue';
import GoalStartCard from './GoalStartCard.vue';
import GoalStrip from './GoalStrip.vue';
import { goalViews } from './views.ts';

export const goals: Feature = {
  ...goalViews,
  bodies: { goal: GoalBody },
  approvalCards: { goal_start: GoalStartCard },
  strip: GoalStrip,
};
