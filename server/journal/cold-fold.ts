/** A journal folded for reading: nothing is written, locked or told. */
import type { LeaseHolder } from '#server/storage/lease.ts';
import { createBlobStore } from './blobs.ts';
import { settleCrash } from './crash-recovery.ts';
import { applyBatch } from './fold.ts';
import { lockOwner } from './lock.ts';
import type { FeatureProjection } from './projections/feature-projection.ts';
import { emptyView, newHeader, readOn, type JournalView } from './view.ts';

export interface ColdFold extends JournalView {
  /** What a dead server left open was settled in this fold alone; on the disk it still is open. */
  unsettled: boolean;
}

/**
 * The fold of a session's journal, settled as a load would settle it: what runs is shown as running while its owner
 * lives. `length` 0: there is no journal. Throws when the journal is damaged, as a load does.
 */
export async function foldJournal(
  dir: string,
  sessionId: string,
  holder: LeaseHolder,
  projections: readonly FeatureProjection[] = [],
): Promise<ColdFold> {
  const view = emptyView(newHeader(sessionId, Date.now()), projections);
  await readOn(view, dir, createBlobStore(dir), () => undefined);
  const open = settleCrash(view.state).length > 0 && !(await lockOwner(dir, holder));
  if (open) {
    const records = settleCrash(view.state).map(({ unsent: _unsent, ...record }) => record);
    applyBatch(view.state, { t: view.state.lastTime, records });
  }
  return Object.assign(view, { unsettled: open });
}
