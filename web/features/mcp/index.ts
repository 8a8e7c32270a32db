import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';

/** Loaded when its tab is first opened. */
const McpPanel = defineAsyncComponent(() => import('./McpPanel.vue'));

export const mcp: Feature = {
  panels: [{ id: 'mcp', label: t('mcp.panel'), icon: 'plug', component: McpPanel }],
};
