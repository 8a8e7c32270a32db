import type { Feature } from '../feature.ts';
import { activateTyped, skillCompletion } from './completion.ts';
import SkillBody from './SkillBody.vue';
import SkillMarker from './SkillMarker.vue';
import SkillRow from './SkillRow.vue';
import { isActivationDrawn, skillViews } from './views.ts';

export const skills: Feature = {
  ...skillViews,
  bodies: { skill: SkillBody },
  completion: { ...skillCompletion, row: SkillRow },
  sendTyped: activateTyped,
  markers: { skill: { component: SkillMarker, isDrawn: isActivationDrawn } },
};
