/** Folds drafts as lines of a journal, one line per second. */
import { initialState, applyBatch, type LogState } from '#server/journal/fold.ts';
import type { FeatureProjection } from '#server/journal/projections/feature-projection.ts';
import { recordOf, type CompleteDraft } from '#server/journal/records.ts';
import { newHeader } from '#server/journal/view.ts';

export const SESSION_ID = 'session_S1';

type Lines = (CompleteDraft | CompleteDraft[])[];

/** The state after the lines; the first has the time 1000. */
export const folded = (...lines: Lines): LogState => foldedWith([], ...lines);

/** The same with projections of features. */
export function foldedWith(projections: readonly FeatureProjection[], ...lines: Lines): LogState {
  const state = initialState(newHeader(SESSION_ID, 0), projections);
  lines.forEach((line, index) => {
    const records = [line].flat().map((draft) => recordOf(draft, undefined));
    applyBatch(state, { t: 1000 * (index + 1), records }, 100 * index);
  });
  return state;
}
