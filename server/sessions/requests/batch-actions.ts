/** Archiving and restoring many sessions. */
import { mapLimit } from '#server/async/map-limit.ts';
import { createTimeSlice } from '#server/async/yield.ts';
import { codeOf } from '#server/errors/catalogue.ts';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import type { ItemResult, SessionBatch } from '#schema/rest/session-batch.ts';
import type { ArchiveActions } from './archive-actions.ts';

/** Each writes and syncs a file. */
const ITEMS_AT_ONCE = 8;

export interface BatchActions {
  /** Archives sessions as `archive` does; results are in the order of the ids, which are distinct. */
  archiveMany(ids: readonly string[]): Promise<SessionBatch>;
  /** Restores sessions without loading them. */
  restoreMany(ids: readonly string[]): Promise<SessionBatch>;
}

/** The failure of an item: everything but a missing session is an internal error with its cause. */
function failureOf(error: unknown): { code: number; message: string } {
  const isMissing = error instanceof ServiceError && error.name === 'session.not_found';
  return { code: codeOf(isMissing ? 'session.not_found' : 'internal.error'), message: errorMessage(error) };
}

export interface BatchActionsDeps {
  actions: Pick<ArchiveActions, 'archive' | 'unarchive'>;
  /** Resolves when every session is indexed. */
  ready(): Promise<void>;
}

export function createBatchActions({ actions, ready }: BatchActionsDeps): BatchActions {
  async function run(ids: readonly string[], act: (id: string) => Promise<unknown>): Promise<SessionBatch> {
    await ready();
    const slice = createTimeSlice();
    /** Shared: the items that run concurrently would otherwise each start a time slice. */
    let resting: Promise<void> | undefined;
    const results = await mapLimit(ids, ITEMS_AT_ONCE, async (id): Promise<ItemResult> => {
      // Unknown ids need no I/O, at which other requests would run.
      if (slice.due()) await (resting ??= slice.rest().finally(() => (resting = undefined)));
      try {
        await act(id);
        return { id, ok: true };
      } catch (error) {
        return { id, ok: false, error: failureOf(error) };
      }
    });
    const succeeded = results.filter(({ ok }) => ok).length;
    return { results, succeeded, failed: results.length - succeeded };
  }

  return {
    archiveMany: (ids) => run(ids, actions.archive),
    restoreMany: (ids) => run(ids, actions.unarchive),
  };
}
