import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import { fileViews } from './views.ts';

const EditBody = defineAsyncComponent(() => import('./EditBody.vue'));
const HitsBody = defineAsyncComponent(() => import('./HitsBody.vue'));
const WriteBody = defineAsyncComponent(() => import('./WriteBody.vue'));

export const files: Feature = { ...fileViews, bodies: { edit: EditBody, write: WriteBody, hits: HitsBody } };
