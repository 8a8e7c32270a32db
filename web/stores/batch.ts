/** Archiving and restoring of many sessions, with the failures of single ones. */
import { shallowRef } from 'vue';
import type { Rest } from '@service-code/client';
import type { SessionLists } from './session-lists.ts';

/** Ids of one request. */
const MOST_IDS = 5_000;

export type BatchAction = 'archive' | 'restore';

export interface BatchFailure {
  id: string;
  message: string;
}

export interface BatchDeps {
  rest: Pick<Rest, 'archiveMany' | 'restoreMany'>;
  lists: Pick<SessionLists, 'drop' | 'read'>;
  /** Receives the error of a request that failed as a whole. */
  report(error: unknown): void;
}

export function createBatch({ rest, lists, report }: BatchDeps) {
  const failures = shallowRef<readonly BatchFailure[]>([]);
  const running = shallowRef<BatchAction>();

  /** Returns the ids that succeeded, also when a later request failed. One batch runs at a time. */
  async function run(action: BatchAction, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const done = new Set<string>();
    if (running.value !== undefined) return done;
    running.value = action;
    failures.value = [];
    try {
      for (let at = 0; at < ids.length; at += MOST_IDS) {
        const some = ids.slice(at, at + MOST_IDS);
        const { results } = await (action === 'archive' ? rest.archiveMany(some) : rest.restoreMany(some));
        const failed = results.flatMap((result): BatchFailure[] =>
          result.ok ? [] : [{ id: result.id, message: result.error.message }],
        );
        const succeeded = new Set(results.flatMap(({ id, ok }) => (ok ? [id] : [])));
        for (const id of succeeded) done.add(id);
        failures.value = [...failures.value, ...failed];
        lists.drop(action === 'archive' ? 'open' : 'archived', succeeded);
      }
      // No event announces a restored session.
      if (action === 'restore' && done.size > 0) await lists.read();
    } catch (error) {
      report(error);
    } finally {
      running.value = undefined;
    }
    return done;
  }

  return {
    failures,
    running,
    run,
    dismissFailures: () => void (failures.value = []),
  };
}
