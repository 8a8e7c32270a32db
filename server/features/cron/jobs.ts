/** The jobs of a loaded session as this process follows them. What they are is in the journal. */
import type { SessionContext } from '#server/agent/context.ts';
import type { CronJob } from '#server/journal/records.ts';
import { createPace } from '#server/breathe.ts';
import { createBacklog, type Backlog } from './backlog.ts';
import { cronTable, type KnownCronJob } from './projection.ts';
import { cronSettings } from './settings.ts';
import type { Schedule } from './schedule.ts';

export const loadSchedules = () => import('./schedule.ts');

/** Times of a job that are counted without a look at the clock. */
const TIMES_AT_ONCE = 20;

export interface FollowedJob {
  readonly job: CronJob;
  readonly backlog: Backlog;
}

export interface Jobs {
  readonly size: number;
  /** In the order of their making, without those that are not followed yet. */
  followed(): FollowedJob[];
  /** Follows all there are, and counts what has come of each by now. */
  countOn(): Promise<void>;
}

interface Known extends FollowedJob {
  readonly schedule: Schedule;
  /** What the backlog was made from. */
  readonly lastFiredAt: number | undefined;
  readonly jitter: boolean;
}

/** Creates it; follows none yet. */
export function createJobs({ log, clock, config, report }: SessionContext): Jobs {
  const known = new Map<string, Known>();
  /** Those whose expression is none: a journal of another program's making. */
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
      const pace = createPace();
      for (const { backlog } of followed()) {
        while (!backlog.countOn(clock.now(), TIMES_AT_ONCE)) if (pace.due()) await pace.rest();
      }
    },
  };
}
