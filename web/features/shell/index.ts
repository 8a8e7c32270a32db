import type { Feature } from '../feature.ts';
import CommandBody from './CommandBody.vue';
import { shellViews } from './views.ts';

export const shell: Feature = { ...shellViews, bodies: { command: CommandBody } };
