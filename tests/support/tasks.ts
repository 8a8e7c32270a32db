/** Background tasks for tests. */
import { systemClock, type Clock } from '#server/clock.ts';
import type { Draft } from '#server/journal/records.ts';
import { createTasks, KILL_GRACE_MS, type Tasks, type TaskSettings } from '#server/tasks/tasks.ts';

export const defaultTaskSettings: TaskSettings = {
  maxRunning: undefined,
  killGraceMs: KILL_GRACE_MS,
  detachedTimeoutMs: 600_000,
  detachOnTimeout: true,
  keepAliveOnExit: false,
};

/** Tasks of a session without a journal; `records` collects what they would append. */
export function tasksOf(
  dir: string,
  settings: Partial<TaskSettings> = {},
  records: Draft[] = [],
  clock: Clock = systemClock,
  known: (id: string) => boolean = () => false,
): Tasks {
  const append = (drafts: Draft[]) => records.push(...drafts);
  return createTasks({
    log: { append, attempt: (drafts) => append(drafts) > 0 },
    dir,
    clock,
    settings: () => ({ ...defaultTaskSettings, ...settings }),
    known,
    report: (what, error) => {
      throw new Error(what, { cause: error });
    },
  });
}
