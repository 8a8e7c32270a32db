import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';
import { sessionLinkCompletion } from './completion.ts';

const SessionLinkRow = defineAsyncComponent(() => import('./SessionLinkRow.vue'));

export const sessionLinks: Feature = {
  completion: { ...sessionLinkCompletion, label: t('session-links.label'), row: SessionLinkRow },
};
