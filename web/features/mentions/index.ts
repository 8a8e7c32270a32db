import type { Feature } from '../feature.ts';
import { mentionCompletion } from './completion.ts';
import MentionRow from './MentionRow.vue';

export const mentions: Feature = { completion: { ...mentionCompletion, row: MentionRow } };
