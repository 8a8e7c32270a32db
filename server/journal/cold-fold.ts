/** Cold read: folds a journal without writing, locking or publishing. */
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
  /** Open operations of an exited server were settled in this fold only; on the disk they are still open. */
  unsettled: boolean;
  /** Bytes of the file when its reading began, including a torn last line. */
  size: number;
  /** Blob store of the long texts in `state`. */
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
 * Folds a session's journal and settles it as a load does; operations of a live owner are reported as running. `length`
 * is 0 without a journal. `known`, an earlier fold of it, is continued and returned, unless it does not fit the file
 * any more. Throws `internal.error` for a damaged journal, as a load does; then `known` must not be used again.
 */
export async function foldJournal(journal: FoldedJournal, known?: ColdFold): Promise<ColdFold> {
  const { dir, sessionId, holder, projections = [] } = journal;
  const size = await journalFiles.size(dir);
  // A settled fold has records that no line has, so it cannot be continued; it is valid while the file is unchanged.
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
  // The owner may have written its last lines before it exited.
  await readMore();
  const drafts = settleCrash(fold.state, await survivingTasks(fold.state));
  if (drafts.length === 0) return fold;
  const records = drafts.map((draft) => recordOf(draft, undefined));
  applyBatch(fold.state, { t: fold.state.lastTime, records });
  fold.unsettled = true;
  return fold;
}
