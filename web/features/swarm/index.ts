import type { Feature } from '../feature.ts';
import SwarmBody from './SwarmBody.vue';
import SwarmSwitch from './SwarmSwitch.vue';
import { swarmViews } from './views.ts';

export const swarm: Feature = { ...swarmViews, bodies: { swarm: SwarmBody }, picker: SwarmSwitch };
