/**
 * Scheduler of a loaded session's jobs: fires a job as soon as it is due and the main agent is idle. A single timer
 * waits for the next job; while a turn runs, its end triggers the check instead.
 */
import type { SessionContext, TurnRequest } from '#server/agent/contract/context.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { event } from '#server/journal/records.ts';
import type { Logger } from '#server/logging/log.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { firing } from './firing.ts';
import { createJobs, type FollowedJob, type Jobs } from './jobs.ts';
import { cronSettings } from './settings.ts';

/** Recurring jobs that are older fire a last time. */
export const STALE_MS = 7 * 24 * 3_600_000;
/** The machine may sleep and its clock may be set, so long waits are checked in between. */
const LONGEST_WAIT_MS = 60_000;
/** Delay while another process owns the session. */
const RETRY_MS = 1000;

export interface CronServices {
  readonly log: Pick<Logger, 'info'>;
}

export interface CronWork {
  readonly jobs: Jobs;
  /** Whether there are jobs that may still fire. */
  waits(): boolean;
  /** Fires due jobs when the main agent is idle. */
  lookWhenFree(): void;
  /** Warns clients that the jobs do not fire until the session is used again. Never rejects. */
  onEvict(): Promise<void>;
  /** Stops the timer and waits for a running check. */
  onUnload(): Promise<void>;
}

/** Creates the scheduler of one loaded session; without jobs it sets no timer. */
export function createCronWork(session: SessionContext, { log: serverLog }: CronServices): CronWork {
  const { log, clock, config } = session;
  const jobs = createJobs(session);
  let cancelTimer = () => {};
  let looking: Promise<void> | undefined;
  /** The jobs have changed during the running check. */
  let again = false;
  let released = false;

  const settings = () => cronSettings(config.effective());
  const rests = () => settings().disabled || session.archived();

  function look(): void {
    cancelTimer();
    if (released || jobs.size === 0) return;
    again = looking !== undefined;
    if (looking) return;
    looking = lookNow()
      .catch((error: unknown) => {
        session.report(`the cron jobs of ${log.sessionId} could not be looked at`, error);
        lookIn(LONGEST_WAIT_MS);
      })
      .finally(() => {
        looking = undefined;
        if (again) look();
      });
  }

  function lookIn(ms: number): void {
    cancelTimer();
    if (released || log.readOnly) return;
    cancelTimer = clock.setTimeout(look, Math.min(Math.max(ms, settings().pollMs), LONGEST_WAIT_MS));
  }

  async function lookNow(): Promise<void> {
    const { main } = session.agents;
    if (rests()) {
      lookIn(LONGEST_WAIT_MS);
      return;
    }
    if (!main.idle()) {
      lookWhenFree();
      return;
    }
    if (!(await isDue())) return;
    if (!log.claimed) {
      // Another process may have fired it meanwhile.
      await log.refresh();
      if (!(await isDue())) return;
      if (!(await claimed())) {
        lookIn(RETRY_MS);
        return;
      }
      if (!(await isDue())) return;
    }
    main.context.wake(opening);
    session.changed();
  }

  function lookWhenFree(): void {
    session.agents.main.context.wake(() => {
      look();
      return undefined;
    });
  }

  /** Whether a job is due; otherwise sets the timer for the next one. */
  async function isDue(): Promise<boolean> {
    await jobs.countOn();
    if (released) return false;
    const next = Math.min(...jobs.followed().map(({ backlog }) => backlog.dueAt ?? Infinity));
    const left = next - clock.now();
    if (left > 0) lookIn(left);
    return left <= 0;
  }

  /** Whether this process owns the session: if several have it loaded, only the owner fires. */
  async function claimed(): Promise<boolean> {
    try {
      await log.claim();
      return true;
    } catch (error) {
      if (error instanceof ServiceError && error.name === 'session.busy') return false;
      throw error;
    }
  }

  /** The turn of the job that has been due the longest. */
  function opening(): TurnRequest | undefined {
    const now = clock.now();
    let first: FollowedJob | undefined;
    for (const one of jobs.followed()) {
      one.backlog.countOn(now);
      if (one.backlog.count === 0) continue;
      if (!first || (one.backlog.dueAt ?? 0) < (first.backlog.dueAt ?? 0)) first = one;
    }
    if (!first || rests()) return undefined;
    const { job, backlog } = first;
    const stale = job.recurring === true && settings().stale && now - job.createdAt > STALE_MS;
    if (settings().debug) {
      serverLog.info('a cron job fires', { sessionId: log.sessionId, jobId: job.id, count: backlog.count, stale });
    }
    return firing(job, backlog, stale);
  }

  // Jobs that another process adds are followed too.
  const unlisten = log.listen({
    line: ({ records }) => {
      if (records.some(({ type }) => type === 'cron.added')) queueMicrotask(look);
    },
    volatile: () => undefined,
    restarted: () => undefined,
  });
  look();

  return {
    jobs,
    waits: () => jobs.size > 0 && !rests(),
    lookWhenFree,
    async onEvict() {
      const message = `More sessions have scheduled jobs than are kept loaded, so those of this one do not fire until it is used again.`;
      try {
        if (!(await claimed())) return;
        session.agents.main.context.config.create();
        log.append([event(MAIN_AGENT, 'warning', { message, code: 'cron-session-limit' })]);
      } catch (error) {
        session.report(`${log.sessionId} could not be told that its jobs do not fire any more`, error);
      }
    },
    async onUnload() {
      released = true;
      cancelTimer();
      unlisten();
      await looking;
    },
  };
}
