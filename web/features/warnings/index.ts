import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';

const WarningLines = defineAsyncComponent(() => import('./WarningLines.vue'));

export const warnings: Feature = { strip: WarningLines };
