import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';

const GenerateTitle = defineAsyncComponent(() => import('./GenerateTitle.vue'));

export const titles: Feature = { action: GenerateTitle };
