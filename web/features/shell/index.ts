import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import { shellViews } from './views.ts';

const CommandBody = defineAsyncComponent(() => import('./CommandBody.vue'));

export const shell: Feature = { ...shellViews, bodies: { command: CommandBody } };
