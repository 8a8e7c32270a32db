import type { Feature } from '../feature.ts';
import TaskStrip from './TaskStrip.vue';

export const tasks: Feature = { strip: TaskStrip };
