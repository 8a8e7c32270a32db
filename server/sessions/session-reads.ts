/**
 * Reading a session: from the one that is loaded here, else from a fold of its journal, which loads nothing, writes
 * nothing and tells nobody. Another server may run the session meanwhile: its members then show that it runs.
 */
import { sessionNotFound } from '#server/errors/service-error.ts';
import type { ColdFold } from '#server/journal/cold-fold.ts';
import { readMessages } from '#server/journal/message-pages.ts';
import { workFacts } from '#server/journal/projections/activity.ts';
import type { ColdFolds } from './cold-folds.ts';
import type { LiveSessions } from './live-sessions.ts';
import { foldedHeader, sessionOfHeader, type StoredHeader } from './session-header.ts';
import type { SessionIndex } from './session-index.ts';
import {
  createSessionReader,
  type SessionReader,
  type SessionSource,
  type ViewConfiguration,
} from './session-views.ts';

export interface SessionReadsDeps extends ViewConfiguration {
  live: Pick<LiveSessions, 'get' | 'directory'>;
  folds: Pick<ColdFolds, 'read'>;
  index: Pick<SessionIndex, 'ready' | 'stored'>;
}

/** Answers from everything that was in the journal when it was called. Throws 40401, 50001 of a damaged journal. */
export type ReadSession = (id: string) => Promise<SessionReader>;

export function createSessionReads(deps: SessionReadsDeps): ReadSession {
  const { live, folds, index } = deps;

  function storedHeader(id: string): StoredHeader {
    const stored = index.stored(id);
    if (!stored) throw sessionNotFound(id);
    return stored;
  }

  async function sourceOf(id: string): Promise<SessionSource> {
    let fold: ColdFold | undefined;
    if (!live.get(id)) {
      await index.ready();
      fold = await folds.read(id, live.directory(storedHeader(id).header));
    }
    // It may have come or gone meanwhile; what this process runs, it alone knows whole.
    const session = live.get(id);
    if (session) {
      await session.log.refresh();
      return session;
    }
    fold ??= await folds.read(id, live.directory(storedHeader(id).header));
    const stored = storedHeader(id);
    return foldedSource(id, live.directory(stored.header), fold, stored);
  }

  return async (id) => createSessionReader(await sourceOf(id), deps);
}

/** Everything is looked at when it is asked for, for another reader may read the fold on. */
function foldedSource(id: string, dir: string, fold: ColdFold, { header, journalLength }: StoredHeader): SessionSource {
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
