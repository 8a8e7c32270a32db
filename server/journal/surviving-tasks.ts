import { stillRuns } from '#server/processes/process-identity.ts';
import type { LogState } from './fold.ts';
import { runningTasks } from './projections/tasks.ts';

/** Ids of the commands that an exited server left open and whose process still runs. Never rejects. */
export async function survivingTasks({ tasks }: Pick<LogState, 'tasks'>): Promise<ReadonlySet<string>> {
  const found = await Promise.all(
    runningTasks(tasks).map(async ({ info, process }) => {
      const runs = process !== undefined && (await stillRuns(process).catch(() => false));
      return runs ? [info.taskId] : [];
    }),
  );
  return new Set(found.flat());
}
