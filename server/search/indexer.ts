/** Keeps the search index up to date, one session at a time: those that changed first, then those that it lacks. */
import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Connection, IndexDb } from '#server/storage/derived-db.ts';
import { fillPass } from './fill.ts';
import { indexJournal } from './index-journal.ts';
import type { Hint } from './messages.ts';
import { noteFailure, setArchived } from './sessions.ts';

const PASS_EVERY_MS = 60_000;

export interface Indexer {
  /** Queues sessions that changed; a later hint of a session replaces an earlier one. */
  hint(hints: readonly Hint[]): void;
  /** Starts or stops the passes over all sessions. */
  setFilling(active: boolean): void;
  /** Indexes one session up to its length, before queued ones. Rejects like `indexJournal`. */
  indexNow(hint: Hint, goesOn: () => boolean): Promise<void>;
  /** Text of the failure of the last refresh. */
  failure(): string | undefined;
  close(): void;
}

export interface IndexerDeps {
  db: IndexDb;
  connection: Connection;
  sessionIndex: string;
  sessionsDir: string;
  /** Whether a query runs: the fill waits for it. */
  isSearching(): boolean;
}

/** Creates an indexer; nothing is indexed before the first call. */
export function createIndexer({ db, connection, sessionIndex, sessionsDir, isSearching }: IndexerDeps): Indexer {
  const hints = new Map<string, Hint>();
  let working = false;
  let filling = false;
  let passDue = false;
  let timer: NodeJS.Timeout | undefined;
  let failure: string | undefined;
  let closed = false;

  /** Fresh documents are numbered above all others, those of a fill below. */
  async function index(hint: Hint, newest: boolean): Promise<void> {
    try {
      await indexJournal(connection, hint, hint.length, { newest, goesOn: async () => !closed });
      setArchived(connection, hint.id, hint.archived);
      if (!newest) noteFailure(connection, hint, hint.length);
    } catch (error) {
      failure = errorMessage(error);
      noteFailure(connection, hint, hint.length);
    }
  }

  /** Synchronously: a search that follows must not find an archived session, and find a restored one. */
  function showOrHide({ id, archived }: Hint): void {
    try {
      setArchived(connection, id, archived);
    } catch (error) {
      failure = errorMessage(error);
    }
  }

  async function takeHints(): Promise<void> {
    for (const hint of hints.values()) {
      if (closed) break;
      hints.delete(hint.id);
      await index(hint, true);
    }
  }

  async function pass(): Promise<void> {
    passDue = false;
    failure = undefined;
    const isComplete = await fillPass({
      connection,
      sessionIndex,
      sessionsDir,
      async index(session) {
        await takeHints();
        while (isSearching()) await delay(1);
        await index(session, false);
      },
      goesOn: () => filling && !closed,
    });
    if (isComplete && !closed) db.markFilled();
  }

  async function work(): Promise<void> {
    if (working) return;
    working = true;
    try {
      await takeHints();
      if (filling && passDue) await pass();
    } catch (error) {
      failure = errorMessage(error);
    } finally {
      working = false;
    }
    if (hints.size > 0 && !closed) void work();
  }

  function schedule(): void {
    passDue = true;
    void work();
    timer = setTimeout(schedule, PASS_EVERY_MS);
  }

  return {
    hint(changed) {
      for (const hint of changed) {
        hints.set(hint.id, hint);
        showOrHide(hint);
      }
      void work();
    },
    setFilling(active) {
      if (active === filling) return;
      filling = active;
      clearTimeout(timer);
      if (active) schedule();
    },
    indexNow: (hint, goesOn) =>
      indexJournal(connection, hint, hint.length, { newest: true, goesOn: async () => !closed && goesOn() }),
    failure: () => failure,
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
