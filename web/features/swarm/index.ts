import { defineAsyncComponent } from 'vue';
import type { Feature } from '../feature.ts';
import { swarmViews } from './views.ts';

const SwarmBody = defineAsyncComponent(() => import('./SwarmBody.vue'));
const SwarmSwitch = defineAsyncComponent(() => import('./SwarmSwitch.vue'));

export const swarm: Feature = { ...swarmViews, bodies: { swarm: SwarmBody }, picker: SwarmSwitch };
