/** A journal folded for reading: nothing is written, locked or told. */
import type { LeaseHolder } from '#server/storage/lease.ts';
import { createBlobStore, type BlobStore } from './blobs.ts';
import { settleCrash } from './crash-recovery.ts';
import { applyBatch } from './fold.ts';
import { journalFiles } from './journal-files.ts';
import { lockOwner } from './lock.ts';
import type { FeatureProjection } from './projections/feature-projection.ts';
import { recordOf } from './records.ts';
import { survivingTasks } from './surviving-tasks.ts';
import { emptyView, newHeader, readOn, type JournalView } from './view.ts';

export interface ColdFold extends JournalView {
  /** What a dead server left open was settled in this fold alone; on the disk it still is open. */
  unsettled: boolean;
  /** Bytes of the file, a torn last line included, when its reading began. */
  size: number;
  /** Where the long texts of `state` are. */
  blobs: BlobStore;
}

export interface FoldedJournal {
  /** The session's folder. */
  dir: string;
  sessionId: string;
  holder: LeaseHolder;
  projections?: readonly FeatureProjection[];
}

/**
 * The fold of a session's journal, settled as a load would settle it: what runs is shown as running while its owner
 * lives. `length` 0: there is no journal. `known`, an earlier fold of it, is read on and returned, unless it does not
 * fit the file any more. Throws when the journal is damaged, as a load does; then `known` must not be used again.
 */
export async function foldJournal(journal: FoldedJournal, known?: ColdFold): Promise<ColdFold> {
  const { dir, sessionId, holder, projections = [] } = journal;
  const size = await journalFiles.size(dir);
  // A settled fold is all there is while nobody wrote; it has records that no line has, so it cannot be read on.
  if (known?.unsettled && size === known.size) return known;
  const fold =
    known && !known.unsettled && size >= known.length
      ? known
      : {
          ...emptyView(newHeader(sessionId, Date.now()), projections),
          size,
          unsettled: false,
          blobs: createBlobStore(dir),
        };
  fold.size = size;
  const readMore = () => readOn(fold, dir, fold.blobs);
  await readMore();
  if (settleCrash(fold.state).length === 0 || (await lockOwner(dir, holder))) return fold;
  // The owner may have written its end before it went.
  await readMore();
  const drafts = settleCrash(fold.state, await survivingTasks(fold.state));
  if (drafts.length === 0) return fold;
  const records = drafts.map((draft) => recordOf(draft, undefined));
  applyBatch(fold.state, { t: fold.state.lastTime, records });
  fold.unsettled = true;
  return fold;
}
