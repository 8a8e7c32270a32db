import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import { activateTyped, skillCompletion } from './completion.ts';
import { isActivationDrawn, skillViews } from './views.ts';

const SkillBody = defineAsyncComponent(() => import('./SkillBody.vue'));
const SkillMarker = defineAsyncComponent(() => import('./SkillMarker.vue'));
const SkillRow = defineAsyncComponent(() => import('./SkillRow.vue'));

export const skills: Feature = {
  ...skillViews,
  bodies: { skill: SkillBody },
  completion: { ...skillCompletion, row: SkillRow },
  sendTyped: activateTyped,
  markers: { skill: { component: SkillMarker, isDrawn: isActivationDrawn } },
};
