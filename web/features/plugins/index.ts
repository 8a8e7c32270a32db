import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';

/** Loaded when it is first opened. */
const PluginsView = defineAsyncComponent(() => import('./PluginsView.vue'));

export const plugins: Feature = {
  mainViews: [{ id: 'plugins', label: t('plugins.title'), component: PluginsView }],
};
