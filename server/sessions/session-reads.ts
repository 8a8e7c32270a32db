/**
 * Reading a session: from the one that is loaded here, else from a fold of its journal, which loads nothing, writes
 * nothing and tells nobody. Another server may run the session meanwhile: its members then show that it runs.
 */
import { readMessages } from '#server/journal/message-pages.ts';
import { workFacts } from '#server/journal/projections/activity.ts';
import { foldedHeader, sessionOfHeader } from './session-header.ts';
import { createReadFrom, type ReadFrom, type SessionPlaceDeps } from './session-place.ts';
import {
  createSessionReader,
  type SessionReader,
  type SessionSource,
  type ViewConfiguration,
} from './session-views.ts';

export type SessionReadsDeps = ViewConfiguration & SessionPlaceDeps;

/**
 * Answers from everything that was in the journal when it was called. Throws `session.not_found`, `internal.error` of a
 * damaged journal.
 */
export type ReadSession = (id: string) => Promise<SessionReader>;

export function createSessionReads(deps: SessionReadsDeps): ReadSession {
  const readFrom = createReadFrom(deps);

  return async (id) => {
    const from = await readFrom(id);
    return createSessionReader('session' in from ? from.session : foldedSource(id, from), deps);
  };
}

/** Everything is looked at when it is asked for, for another reader may read the fold on. */
function foldedSource(id: string, { dir, fold, stored }: Exclude<ReadFrom, { session: unknown }>): SessionSource {
  const { header, journalLength } = stored;
  const activity = () => workFacts(fold.state.activity);
  // The row is written behind the line; where it is ahead, another server has written since.
  const present = () =>
    fold.length > 0 && fold.length >= journalLength ? foldedHeader(fold.state, header, header) : header;
  return {
    id,
    get state() {
      return fold.state;
    },
    load: fold.blobs.load,
    readMessages: (places) => readMessages(dir, fold.state.messages, places, fold.blobs),
    position: () => ({ seq: fold.seq, epoch: fold.header.epoch }),
    activity,
    view: () => sessionOfHeader(present(), activity()),
  };
}
