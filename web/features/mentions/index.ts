import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import { mentionCompletion } from './completion.ts';

const MentionRow = defineAsyncComponent(() => import('./MentionRow.vue'));

export const mentions: Feature = { completion: { ...mentionCompletion, row: MentionRow } };
