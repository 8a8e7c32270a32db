import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';

/** Loaded when it is first opened. */
const ProvidersView = defineAsyncComponent(() => import('./ProvidersView.vue'));

export const providers: Feature = {
  mainViews: [{ id: 'providers', label: 'Providers', component: ProvidersView, setUp: 'Find a provider' }],
};
