/**
 * Reads a session's transcripts. Those of a session that is not loaded are folded from its journal without loading or
 * writing; the last few folds are cached briefly, and extended if the file has grown.
 */
import type { TranscriptProjection } from '#server/transcript/fold.ts';
import type { TranscriptSource } from '#server/transcript/reads.ts';
import { createReadFrom, type SessionPlaceDeps } from './session-place.ts';

/**
 * Returns the transcripts of all records that were in the journal at the time of the call. Throws `session.not_found`;
 * `internal.error` if the journal is damaged.
 */
export type ReadTranscripts = (id: string) => Promise<TranscriptSource>;

export interface TranscriptReadsDeps extends SessionPlaceDeps {
  projection: TranscriptProjection;
}

export function createTranscriptReads({ live, folds, index, projection }: TranscriptReadsDeps): ReadTranscripts {
  const readFrom = createReadFrom({ live, folds, index });

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
