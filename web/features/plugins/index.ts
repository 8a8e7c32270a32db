import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';

/** Loaded when it is first opened. */
const PluginsView = defineAsyncComponent(() => import('./PluginsView.vue'));

export const plugins: Feature = {
  mainViews: [{ id: 'plugins', label: 'Plugins', component: PluginsView }],
};
