import type { Feature } from '../feature.ts';
import FoundBody from './FoundBody.vue';
import { webViews } from './views.ts';

export const web: Feature = { ...webViews, bodies: { found: FoundBody } };
