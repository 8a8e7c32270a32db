import type { Feature } from '../feature.ts';
import TrustQuestion from './TrustQuestion.vue';

export const projectTrust: Feature = { strip: TrustQuestion };
