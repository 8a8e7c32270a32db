/**
 * Reads a session: from the loaded one, else from a fold of its journal, which loads nothing, writes nothing and
 * publishes nothing. If another server runs the session meanwhile, its members show that it is running.
 */
import { readMessages } from '#server/journal/message-pages.ts';
import { workStatus } from '#server/journal/projections/activity.ts';
import { foldedHeader, sessionOfHeader } from '../index/session-header.ts';
import { createReadFrom, type ReadFrom, type SessionPlaceDeps } from './session-place.ts';
import {
  createSessionReader,
  type SessionReader,
  type SessionSource,
  type ViewConfiguration,
} from './session-views.ts';

export type SessionReadsDeps = ViewConfiguration & SessionPlaceDeps;

/**
 * Returns a reader of all records that were in the journal at the time of the call. Throws `session.not_found`;
 * `internal.error` if the journal is damaged.
 */
export type ReadSession = (id: string) => Promise<SessionReader>;

export function createSessionReads({ live, folds, index, defaults, features }: SessionReadsDeps): ReadSession {
  const readFrom = createReadFrom({ live, folds, index });

  return async (id) => {
    const from = await readFrom(id);
    return createSessionReader('session' in from ? from.session : foldedSource(id, from), { defaults, features });
  };
}

/** The source of a folded session. Its members are read at each access, because another reader may extend the fold. */
function foldedSource(id: string, { dir, fold, stored }: Exclude<ReadFrom, { session: unknown }>): SessionSource {
  const { header, journalLength } = stored;
  const activity = () => workStatus(fold.state.activity);
  // A row is written after its journal line; if the row is ahead of the fold, another server has written since.
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
