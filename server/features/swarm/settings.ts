/** Limits of swarms, which only an environment variable sets. */
import type { EffectiveConfig } from '#server/config/effective.ts';
import { SWARM_CONCURRENCY_VARIABLE } from '#server/config/environment.ts';

/** How many members of a swarm run at a time; undefined: no limit. Throws for anything but a positive integer. */
export function swarmConcurrency({ swarm }: Pick<EffectiveConfig, 'swarm'>): number | undefined {
  const { maxConcurrency: text } = swarm;
  if (text === undefined) return undefined;
  const limit = /^\d+$/.test(text) ? Number(text) : 0;
  if (limit < 1) throw new Error(`${SWARM_CONCURRENCY_VARIABLE} must be a positive integer, not "${text}".`);
  return limit;
}
