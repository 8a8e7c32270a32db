/** Determines the source that a session is read from: the loaded session, else a fold of its journal. */
import { sessionNotFound } from '#server/errors/service-error.ts';
import type { ColdFold } from '#server/journal/cold-fold.ts';
import { assertNotEmptied } from '#server/journal/emptied.ts';
import type { ColdFolds } from './cold-folds.ts';
import type { SessionLog } from '#server/journal/session-log.ts';
import type { LiveTranscripts } from '#server/transcript/live.ts';
import type { SessionHeader, StoredHeader } from '../index/session-header.ts';
import type { SessionIndex } from '../index/session-index.ts';
import type { SessionSource } from './session-views.ts';

/** The part of a loaded session that reads use. */
export interface ReadableSession extends SessionSource {
  readonly log: Pick<SessionLog, 'refresh' | 'load' | 'position' | 'replay'>;
  readonly transcripts: Pick<LiveTranscripts, 'open'>;
}

/** The sessions that are loaded in this process. */
export interface LoadedSessions {
  get(id: string): ReadableSession | undefined;
  /** Resolves when no load of the session is running, whether it succeeded or not. */
  loaded(id: string): Promise<void>;
  directory(row: Pick<SessionHeader, 'id' | 'workspaceId'>): string;
}

export type ReadFrom = { session: ReadableSession } | { fold: ColdFold; dir: string; stored: StoredHeader };

export interface SessionPlaceDeps {
  live: LoadedSessions;
  folds: Pick<ColdFolds, 'read'>;
  index: Pick<SessionIndex, 'ready' | 'stored'>;
}

/**
 * Creates the function that returns the source with all records that were in the journal at the time of the call.
 * Throws `session.not_found`; `internal.error` if the journal is damaged.
 */
export function createReadFrom({ live, folds, index }: SessionPlaceDeps): (id: string) => Promise<ReadFrom> {
  function storedHeader(id: string): StoredHeader {
    const stored = index.stored(id);
    if (!stored) throw sessionNotFound(id);
    return stored;
  }

  async function readFold(id: string): Promise<ColdFold> {
    const { header, journalLength } = storedHeader(id);
    const dir = live.directory(header);
    await assertNotEmptied(dir, journalLength);
    return folds.read(id, dir);
  }

  return async (id) => {
    let fold: ColdFold | undefined;
    if (!live.get(id)) {
      await index.ready();
      // Reading during a load would fold the journal twice.
      await live.loaded(id);
    }
    if (!live.get(id)) {
      fold = await readFold(id);
    }
    // The session may have been loaded or unloaded meanwhile; if it is loaded, only its process has its complete state.
    const session = live.get(id);
    if (session) {
      await session.log.refresh();
      return { session };
    }
    fold ??= await readFold(id);
    const stored = storedHeader(id);
    return { fold, dir: live.directory(stored.header), stored };
  };
}
