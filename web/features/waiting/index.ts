import type { Feature } from '../feature.ts';
import NeedsYou from './NeedsYou.vue';

export const waiting: Feature = { sidebarTop: NeedsYou };
