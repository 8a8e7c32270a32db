import { defineAsyncComponent, h } from 'vue';
import type { Feature } from '../feature.ts';

const NeedsYou = defineAsyncComponent({
  loader: () => import('./NeedsYou.vue'),
  // Its line is empty while the code is loaded, so that the list below does not move.
  delay: 0,
  loadingComponent: () => h('div', { style: { flex: 'none', height: 'var(--control)' } }),
});

export const waiting: Feature = { sidebarTop: NeedsYou };
