import type { Feature } from '../feature.ts';
import GenerateTitle from './GenerateTitle.vue';

export const titles: Feature = { action: GenerateTitle };
