/** What was folded of a session for its readers, given to the load of that session: so that no line is folded twice. */
import type { ColdFold } from '#server/journal/cold-fold.ts';
import type { TranscriptProjection } from '#server/transcript/fold.ts';
import type { KnownTranscripts } from '#server/transcript/live.ts';
import type { ColdFolds } from './cold-folds.ts';

export interface TakenFold {
  fold: ColdFold;
  transcripts?: KnownTranscripts;
}

/** Undefined where nothing is known. Waits for what is being read; for that, whoever calls must hold no slot. */
export type TakeFold = (sessionId: string) => Promise<TakenFold | undefined>;

export interface TakenFoldsDeps {
  folds: Pick<ColdFolds, 'take'>;
  /** The same with transcripts. */
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
