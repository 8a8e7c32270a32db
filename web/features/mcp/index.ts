import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import TrustQuestion from './TrustQuestion.vue';

/** Loaded when somebody looks. */
const McpPanel = defineAsyncComponent(() => import('./McpPanel.vue'));

export const mcp: Feature = {
  panels: [{ id: 'mcp', label: 'MCP', component: McpPanel }],
  strip: TrustQuestion,
};
