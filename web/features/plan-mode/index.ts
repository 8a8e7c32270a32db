import type { Feature } from '../feature.ts';
import PlanBody from './PlanBody.vue';
import PlanReviewCard from './PlanReviewCard.vue';
import PlanSwitch from './PlanSwitch.vue';
import { planViews } from './views.ts';

export const planMode: Feature = {
  ...planViews,
  bodies: { plan: PlanBody },
  approvalCards: { plan_review: PlanReviewCard },
  picker: PlanSwitch,
};
