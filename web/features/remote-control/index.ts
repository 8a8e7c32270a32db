import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';

/** Loaded when it is first opened. */
const RemoteView = defineAsyncComponent(() => import('./RemoteView.vue'));

export const remoteControl: Feature = {
  mainViews: [{ id: 'remote-control', label: t('remote.title'), component: RemoteView }],
};
