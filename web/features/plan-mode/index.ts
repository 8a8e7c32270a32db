import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import { planViews } from './views.ts';

const PlanBody = defineAsyncComponent(() => import('./PlanBody.vue'));
const PlanReviewCard = defineAsyncComponent(() => import('./PlanReviewCard.vue'));
const PlanSwitch = defineAsyncComponent(() => import('./PlanSwitch.vue'));

export const planMode: Feature = {
  ...planViews,
  bodies: { plan: PlanBody },
  approvalCards: { plan_review: PlanReviewCard },
  picker: PlanSwitch,
};
