import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import { displayViews } from './views.ts';

const JsonBody = defineAsyncComponent(() => import('./JsonBody.vue'));

export const displays: Feature = { ...displayViews, bodies: { json: JsonBody } };
