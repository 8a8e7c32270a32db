import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';

/** Loaded when it is first opened. */
const ProvidersView = defineAsyncComponent(() => import('./ProvidersView.vue'));

export const providers: Feature = {
  mainViews: [{ id: 'providers', label: t('providers.title'), component: ProvidersView, setUp: t('providers.find') }],
};
