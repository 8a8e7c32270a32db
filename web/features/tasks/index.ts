import type { Feature } from '../feature.ts';
import { tasksPart } from './tasks.ts';
import TaskStrip from './TaskStrip.vue';

export const tasks: Feature = { part: tasksPart, strip: TaskStrip };
