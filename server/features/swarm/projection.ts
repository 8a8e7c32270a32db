/** The agents in swarm mode, with its trigger. */
import { defineFeatureProjection, type FeatureFolds } from '#server/journal/projections/feature-projection.ts';
import { internal, type SwarmTrigger } from '#server/journal/records.ts';

/** Triggers by agent id. */
type SwarmModes = Map<string, SwarmTrigger>;

/** Whether the mode ends with the turn, because no user switched it on. */
export const endsWithTurn = (trigger: SwarmTrigger | undefined): boolean => trigger === 'task' || trigger === 'tool';

export const swarmModes = defineFeatureProjection<SwarmModes>({
  name: 'swarm',
  initial: () => new Map(),
  apply(modes, record) {
    if (record.type === 'swarm.entered') modes.set(record.agent, record.trigger);
    else if (record.type === 'swarm.left') modes.delete(record.agent);
  },
  settleTurn: (modes, agent) => (endsWithTurn(modes.get(agent)) ? [internal(agent, 'swarm.left', {})] : []),
});

/** Returns the trigger of an agent's swarm mode; undefined while it is off. */
export const swarmTrigger = (folds: FeatureFolds, agent: string): SwarmTrigger | undefined =>
  swarmModes.of(folds).get(agent);
