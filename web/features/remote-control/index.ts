import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';

/** Loaded when it is first opened. */
const RemoteView = defineAsyncComponent(() => import('./RemoteView.vue'));

export const remoteControl: Feature = {
  mainViews: [{ id: 'remote-control', label: 'Remote control', component: RemoteView }],
};
