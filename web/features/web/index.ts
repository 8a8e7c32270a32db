import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import { webViews } from './views.ts';

const FoundBody = defineAsyncComponent(() => import('./FoundBody.vue'));

export const web: Feature = { ...webViews, bodies: { found: FoundBody } };
