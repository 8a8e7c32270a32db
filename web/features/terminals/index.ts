import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';

/** Loaded when its tab is first opened: the emulator is as large as the rest of the page. */
const TerminalPanel = defineAsyncComponent(() => import('./TerminalPanel.vue'));

export const terminals: Feature = {
  panels: [
    {
      id: 'terminals',
      label: t('terminals.panel'),
      icon: 'terminal',
      place: 'drawer',
      keys: 'Mod+J',
      component: TerminalPanel,
    },
  ],
};
