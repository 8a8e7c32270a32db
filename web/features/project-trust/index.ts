import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';

const TrustQuestion = defineAsyncComponent(() => import('./TrustQuestion.vue'));

export const projectTrust: Feature = { strip: TrustQuestion };
