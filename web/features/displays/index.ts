import type { Feature } from '../feature.ts';
import JsonBody from './JsonBody.vue';
import { displayViews } from './views.ts';

export const displays: Feature = { ...displayViews, bodies: { json: JsonBody } };
