/**
 * Reading a session's transcripts. Those of a session that is not loaded are folded from its journal, which loads
 * nothing and writes nothing; the last few folds are kept for a moment, and read on where the file has grown.
 */
import type { TranscriptProjection } from '#server/transcript/fold.ts';
import type { TranscriptSource } from '#server/transcript/reads.ts';
import { createReadFrom, type SessionPlaceDeps } from './session-place.ts';

/** Folds with transcripts that are kept. */
export const KEPT_TRANSCRIPTS = { maxFolds: 4, maxBytes: 64 * 1024 * 1024, maxAgeMs: 60_000 };

/**
 * Answers from everything that was in the journal when it was called. Throws `session.not_found`, `internal.error` of a
 * damaged journal.
 */
export type ReadTranscripts = (id: string) => Promise<TranscriptSource>;

export function createTranscriptReads(deps: SessionPlaceDeps & { projection: TranscriptProjection }): ReadTranscripts {
  const { projection } = deps;
  const readFrom = createReadFrom(deps);

  return async (id) => {
    const from = await readFrom(id);
    if ('session' in from) {
      const { log, transcripts } = from.session;
      const live = await transcripts.open();
      return { fold: live.fold, live, load: log.load };
    }
    const { state, blobs } = from.fold;
    return { fold: projection.of(state.features), load: blobs.load };
  };
}
