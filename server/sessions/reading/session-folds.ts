/**
 * The cached folds of sessions that are not loaded: plain ones, and ones with transcripts. A load takes over the fold
 * of readers, so that no line is folded twice.
 */
import type { Semaphore } from '#server/async/semaphore.ts';
import type { Clock } from '#server/clock.ts';
import type { ColdFold, FoldedJournal } from '#server/journal/cold-fold.ts';
import { transcriptProjection, type TranscriptProjection } from '#server/transcript/fold.ts';
import type { KnownTranscripts } from '#server/transcript/live.ts';
import type { Mapper } from '#server/transcript/mapper.ts';
import { createColdFolds, type ColdFolds } from './cold-folds.ts';

/** Limits of the folds with transcripts. */
export const KEPT_TRANSCRIPTS = { maxFolds: 4, maxBytes: 64 * 1024 * 1024, maxAgeMs: 60_000 };

export interface TakenFold {
  fold: ColdFold;
  transcripts?: KnownTranscripts;
}

/** Undefined where none is cached. Waits for a running read, so a caller that has a slot could deadlock. */
export type TakeFold = (sessionId: string) => Promise<TakenFold | undefined>;

export interface SessionFolds {
  readonly plain: ColdFolds;
  readonly withTranscripts: ColdFolds;
  /** Reads the transcripts of a fold that has them. */
  readonly projection: TranscriptProjection;
  readonly take: TakeFold;
}

export interface SessionFoldsDeps {
  slots: Semaphore;
  holder: FoldedJournal['holder'];
  /** The projections of the features. */
  projections: NonNullable<FoldedJournal['projections']>;
  mapper: Mapper;
  clock: Clock;
}

/** Creates both caches, empty. */
export function createSessionFolds({ slots, holder, projections, mapper, clock }: SessionFoldsDeps): SessionFolds {
  const projection = transcriptProjection(mapper);
  const plain = createColdFolds({ slots, holder, projections });
  const withTranscripts = createColdFolds({
    slots,
    holder,
    projections: [...projections, projection],
    ...KEPT_TRANSCRIPTS,
    clock,
  });

  async function take(sessionId: string): Promise<TakenFold | undefined> {
    const [fold, folded] = await Promise.all([plain.take(sessionId), withTranscripts.take(sessionId)]);
    if (!folded) return fold && { fold };
    const { state, length } = folded;
    return { fold: folded, transcripts: { fold: projection.takeFrom(state.features), length } };
  }

  return { plain, withTranscripts, projection, take };
}
