/** Limits of subagents, by `subagent` of the configuration, whose default is part of `GET /config`. */
import type { EffectiveConfig } from '#server/config/effective.ts';

/** How long a subagent may run, in ms; 0 is without a limit. */
export const subagentTimeoutMs = ({ subagent }: Pick<EffectiveConfig, 'subagent'>): number => subagent.timeoutMs;
