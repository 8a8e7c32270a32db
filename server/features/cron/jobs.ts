/** The jobs of a loaded session with their schedules and backlogs in this process; the jobs are in the journal. */
import type { SessionContext } from '#server/agent/contract/context.ts';
import type { CronJob } from '#server/journal/records.ts';
import { createTimeSlice } from '#server/async/yield.ts';
import { createBacklog, type Backlog } from './backlog.ts';
import { cronTable, type KnownCronJob } from './projection.ts';
import { cronSettings } from './settings.ts';
import type { Schedule } from './schedule.ts';

export const loadSchedules = () => import('./schedule.ts');

/** Times of a job that are counted between checks of the time slice. */
const TIMES_AT_ONCE = 20;

export interface FollowedJob {
  readonly job: CronJob;
  readonly backlog: Backlog;
}

export interface Jobs {
  readonly size: number;
  /** In creation order, without jobs that are not followed yet. */
  followed(): FollowedJob[];
  /** Follows new jobs, and counts each one's due times up to now. */
  countOn(): Promise<void>;
}

interface Known extends FollowedJob {
  readonly schedule: Schedule;
  /** The state that the backlog was created from. */
  readonly lastFiredAt: number | undefined;
  readonly jitter: boolean;
}

/** Creates it; follows no job yet. */
export function createJobs({ log, clock, config, report }: SessionContext): Jobs {
  const known = new Map<string, Known>();
  /** Jobs with an invalid expression, which only another program can have written. */
  const unreadable = new Set<string>();

  const table = () => cronTable(log.state.features);

  function current({ id, lastFiredAt }: KnownCronJob, jitter: boolean): Known | undefined {
    const found = known.get(id);
    return found?.lastFiredAt === lastFiredAt && found?.jitter === jitter ? found : undefined;
  }

  async function follow(stored: KnownCronJob, jitter: boolean): Promise<void> {
    const { id, lastFiredAt } = stored;
    if (unreadable.has(id)) return;
    try {
      const { openSchedule } = await loadSchedules();
      const job = await log.load(stored);
      const schedule = known.get(id)?.schedule ?? openSchedule(job.cron);
      known.set(id, { job, schedule, lastFiredAt, jitter, backlog: createBacklog(job, schedule, jitter) });
    } catch (error) {
      unreadable.add(id);
      report(`the cron job ${id} of ${log.sessionId} cannot be read`, error);
    }
  }

  function followed(): Known[] {
    const { jitter } = cronSettings(config.effective());
    return [...table().values()].flatMap((job) => current(job, jitter) ?? []);
  }

  return {
    get size() {
      return table().size;
    },
    followed,
    async countOn() {
      const present = table();
      const { jitter } = cronSettings(config.effective());
      for (const id of known.keys()) if (!present.has(id)) known.delete(id);
      for (const job of present.values()) if (!current(job, jitter)) await follow(job, jitter);
      const slice = createTimeSlice();
      for (const { backlog } of followed()) {
        while (!backlog.countOn(clock.now(), TIMES_AT_ONCE)) if (slice.due()) await slice.rest();
      }
    },
  };
}
