import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';

const TaskStrip = defineAsyncComponent(() => import('./TaskStrip.vue'));

export const tasks: Feature = { strip: TaskStrip };
