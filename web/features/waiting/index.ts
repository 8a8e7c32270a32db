import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';

const NeedsYou = defineAsyncComponent(() => import('./NeedsYou.vue'));

export const waiting: Feature = { sidebarTop: NeedsYou };
