/** Limits of the automatic compaction, from `loopControl` of the configuration. */
import type { EffectiveConfig } from '#server/config/effective.ts';
import type { WindowLimits } from './window.ts';

const DEFAULT_TRIGGER_RATIO = 0.85;

export const compactionSettings = ({ loopControl }: Pick<EffectiveConfig, 'loopControl'>): WindowLimits => ({
  triggerRatio: loopControl.compactionTriggerRatio ?? DEFAULT_TRIGGER_RATIO,
  reserved: loopControl.reservedContextSize,
});
