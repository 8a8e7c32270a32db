/** Settings of scheduled jobs, the section `cron` of the configuration. */
import type { EffectiveConfig } from '#server/config/effective.ts';

const DEFAULT_POLL_MS = 1000;

export interface CronSettings {
  /** Whether jobs are disabled: no tools are offered, and no job fires. */
  disabled: boolean;
  /** Whether each job is offset by its jitter. */
  jitter: boolean;
  /** Whether recurring jobs end after `STALE_MS`. */
  stale: boolean;
  /** Least time between two checks for due jobs, in ms. */
  pollMs: number;
  /** Log each job that fires. */
  debug: boolean;
}

export const cronSettings = ({ cron }: Pick<EffectiveConfig, 'cron'>): CronSettings => ({
  disabled: cron.disabled ?? false,
  jitter: !cron.noJitter,
  stale: !cron.noStale,
  pollMs: cron.pollIntervalMs ?? DEFAULT_POLL_MS,
  debug: cron.debug ?? false,
});
