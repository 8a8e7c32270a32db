import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';

/** Loaded when its tab is first opened. */
const McpPanel = defineAsyncComponent(() => import('./McpPanel.vue'));

export const mcp: Feature = {
  panels: [{ id: 'mcp', label: 'MCP', icon: 'plug', component: McpPanel }],
};
