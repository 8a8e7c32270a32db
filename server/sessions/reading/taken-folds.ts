/** Passes the cached folds of a session to its load, so that no journal line is folded twice. */
import type { ColdFold } from '#server/journal/cold-fold.ts';
import type { TranscriptProjection } from '#server/transcript/fold.ts';
import type { KnownTranscripts } from '#server/transcript/live.ts';
import type { ColdFolds } from './cold-folds.ts';

export interface TakenFold {
  fold: ColdFold;
  transcripts?: KnownTranscripts;
}

/**
 * Removes the session's fold from the caches; undefined if none is cached. Waits for a read in progress, which may need
 * a slot, so the caller must hold none.
 */
export type TakeFold = (sessionId: string) => Promise<TakenFold | undefined>;

export interface TakenFoldsDeps {
  folds: Pick<ColdFolds, 'take'>;
  /** Folds that include transcripts. */
  transcriptFolds: Pick<ColdFolds, 'take'>;
  projection: TranscriptProjection;
}

export function createTakeFold({ folds, transcriptFolds, projection }: TakenFoldsDeps): TakeFold {
  return async (sessionId) => {
    const [plain, withTranscripts] = await Promise.all([folds.take(sessionId), transcriptFolds.take(sessionId)]);
    if (!withTranscripts) return plain && { fold: plain };
    const { state, length } = withTranscripts;
    return { fold: withTranscripts, transcripts: { fold: projection.takeFrom(state.features), length } };
  };
}
