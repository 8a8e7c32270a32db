/** The scheduled jobs of a session. */
import { defineFeatureProjection, type FeatureFolds } from '#server/journal/projections/feature-projection.ts';
import type { CronJob } from '#server/journal/records.ts';
import type { Stored } from '#server/journal/texts.ts';

/** A job of the cron table. */
export type KnownCronJob = Stored<CronJob> & {
  /** The newest scheduled time that was fired or skipped, in ms. */
  lastFiredAt?: number;
};

/** Jobs by id, in the order of their creation. */
type CronTable = Map<string, KnownCronJob>;

function setLastFired(table: CronTable, id: string, lastFiredAt: number): void {
  const job = table.get(id);
  if (job) job.lastFiredAt = lastFiredAt;
}

export const cronJobs = defineFeatureProjection<CronTable>({
  name: 'cron',
  initial: () => new Map(),
  apply(table, record) {
    switch (record.type) {
      case 'cron.added':
        table.set(record.job.id, { ...record.job });
        break;
      case 'cron.deleted':
        table.delete(record.id);
        break;
      case 'cron.cursor':
        setLastFired(table, record.id, record.lastFiredAt);
        break;
      case 'cron.fired':
        if (record.x) setLastFired(table, record.origin.jobId, record.x.lastFiredAt);
        break;
    }
  },
  wakes: (table) => table.size > 0,
});

/** The cron table in the folds of a session. */
export const cronTable = (folds: FeatureFolds): ReadonlyMap<string, KnownCronJob> => cronJobs.of(folds);
