import type { Feature } from '../feature.ts';
import EditBody from './EditBody.vue';
import { fileViews } from './views.ts';
import WriteBody from './WriteBody.vue';

export const files: Feature = { ...fileViews, bodies: { edit: EditBody, write: WriteBody } };
