/** Keeps the search index up to date, one session at a time: those that changed first, then those that it lacks. */
import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { yieldToLoop } from '#server/async/yield.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Connection, IndexDb } from '#server/storage/derived-db.ts';
import { createFillBatch } from './fill-batch.ts';
import { createFillPace, type FillPace } from './fill-pace.ts';
import { fillPass } from './fill.ts';
import { indexJournal, isTemporary } from './index-journal.ts';
import type { Hint } from './messages.ts';
import { noteFailure, setArchived } from './sessions.ts';

/** After a pass that failed, or before the session index has all sessions. */
const RETRY_AFTER_MS = 1_000;
const SETTLED_MS = 1_000;

export interface Indexer {
  /** Queues sessions that changed; a later hint of a session replaces an earlier one. */
  hint(hints: readonly Hint[]): void;
  /** Starts or stops the passes over all sessions; also the answer to `checkLease`. */
  setFilling(active: boolean): void;
  /** Starts a pass if the file was replaced with one that is not filled. */
  checkFilled(): void;
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
  /** Requests `setFilling`: called before each portion of a pass, which ends where the lease was lost. */
  checkLease(): void;
  /** Milliseconds from one pass to the next. */
  passEveryMs: number;
  /** Sessions of a portion. */
  portion?: number;
  /** Called at the start of a pass; default: half of a core. */
  newPace?: () => FillPace;
}

/**
 * The state of a database in its files; undefined if it was written within the last second, because it may have been
 * written again since without a visible difference.
 */
function settledStamp(path: string): string | undefined {
  const files = [path, `${path}-wal`].map((file) => statSync(file, { throwIfNoEntry: false }));
  if (files.some((file) => file && Date.now() - file.mtimeMs < SETTLED_MS)) return undefined;
  return files.map((file) => `${file?.mtimeMs} ${file?.size}`).join(' ');
}

/** Creates an indexer; nothing is indexed before the first call. */
export function createIndexer(deps: IndexerDeps): Indexer {
  const { db, connection, sessionIndex, sessionsDir, isSearching, checkLease, passEveryMs, portion } = deps;
  const { newPace = () => createFillPace() } = deps;
  const retryAfterMs = Math.min(RETRY_AFTER_MS, passEveryMs);
  const hints = new Map<string, Hint>();
  let working = false;
  let filling = false;
  let passDue = false;
  let timer: NodeJS.Timeout | undefined;
  let hintTimer: NodeJS.Timeout | undefined;
  let failure: string | undefined;
  /** The failure of the running refresh; an earlier one is reported until it ends. */
  let currentFailure: string | undefined;
  let closed = false;
  /** Stamp of the session index at the last pass that went through all sessions. */
  let comparedStamp: string | undefined;
  let leaseChecked: (() => void) | undefined;
  let pace = newPace();

  async function queriesEnd(): Promise<void> {
    while (isSearching()) await delay(1);
  }

  /** Resolves to whether this server still has the lease, when no query runs: to compare a portion takes long. */
  async function mayFill(): Promise<boolean> {
    const answered = new Promise<void>((resolve) => (leaseChecked = resolve));
    checkLease();
    await answered;
    await queriesEnd();
    return isFilling();
  }

  const isFilling = () => filling && !closed;

  /** Lets sessions that changed and queries go before the next portion of a fill; resolves to whether it may be read. */
  async function mayReadOn(): Promise<boolean> {
    await pace(async () => {
      await takeHints();
      await queriesEnd();
    });
    return isFilling();
  }

  /** Fresh documents are numbered above all others. */
  const indexFresh = (hint: Hint) =>
    noting(hint, async () => {
      await indexJournal(connection, hint, hint.length, { newest: true, goesOn: async () => !closed });
      // For a session that had no row before; a later hint has been applied already.
      setArchived(connection, hint.id, (hints.get(hint.id) ?? hint).archived);
    });

  const indexCold = (hint: Hint) =>
    noting(hint, async () => {
      await indexJournal(connection, hint, hint.length, { newest: false, goesOn: mayReadOn });
      if (isFilling()) noteFailure(connection, hint, hint.length);
    });

  /** Notes a failure of the session, so that it is tried again only when its journal changes. */
  async function noting(hint: Hint, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      // The next pass finds the session again.
      if (isTemporary(error)) throw error;
      fail(error);
      noteFailure(connection, hint, hint.length);
    }
  }

  /** Synchronously: a search that follows must not find an archived session, and find a restored one. */
  function showOrHide({ id, archived }: Hint): void {
    try {
      setArchived(connection, id, archived);
    } catch (error) {
      fail(error);
    }
  }

  function fail(error: unknown): void {
    failure = currentFailure = errorMessage(error);
  }

  async function takeHints(): Promise<void> {
    for (const id of hints.keys()) {
      // Thousands arrive together after a batch.
      await yieldToLoop();
      const hint = hints.get(id);
      if (closed || !hint) break;
      hints.delete(id);
      try {
        await indexFresh(hint);
      } catch (error) {
        if (!hints.has(id)) hints.set(id, hint);
        throw error;
      }
    }
  }

  async function pass(): Promise<void> {
    passDue = false;
    const stamp = settledStamp(sessionIndex);
    if (stamp !== undefined && stamp === comparedStamp && db.filled()) return;
    pace = newPace();
    const batch = createFillBatch({ connection, indexAlone: indexCold, mayReadOn });
    const isComplete = await fillPass({
      connection,
      sessionIndex,
      sessionsDir,
      async index(session) {
        if (await mayReadOn()) await noting(session, () => batch.add(session));
      },
      flush: batch.flush,
      goesOn: isFilling,
      mayBeginPortion: mayFill,
      mayRemove: mayReadOn,
      portion,
    });
    if (!isComplete) schedulePass(retryAfterMs);
    else if (!closed) {
      db.markFilled();
      comparedStamp = stamp;
    }
  }

  async function work(): Promise<void> {
    if (working) return;
    working = true;
    currentFailure = undefined;
    let isRepeatable = true;
    try {
      await db.refresh();
      await takeHints();
      if (filling && (passDue || !db.filled())) await pass();
    } catch (error) {
      fail(error);
      isRepeatable = false;
      if (filling) schedulePass(retryAfterMs);
      else retryHints();
    } finally {
      working = false;
      failure = currentFailure;
    }
    if (isRepeatable && !closed && (hints.size > 0 || (filling && passDue))) void work();
  }

  function startPass(): void {
    passDue = true;
    void work();
    schedulePass(passEveryMs);
  }

  function schedulePass(afterMs: number): void {
    clearTimeout(timer);
    if (filling && !closed) timer = setTimeout(startPass, afterMs);
  }

  /** For a server without the lease, whose hints no pass of its own replaces. */
  function retryHints(): void {
    clearTimeout(hintTimer);
    if (!closed) hintTimer = setTimeout(() => void work(), retryAfterMs);
  }

  db.onRemade(() => void work());

  return {
    hint(changed) {
      for (const hint of changed) {
        hints.set(hint.id, hint);
        showOrHide(hint);
      }
      void work();
    },
    setFilling(active) {
      const began = active && !filling;
      filling = active;
      leaseChecked?.();
      if (began) startPass();
      else if (!active) clearTimeout(timer);
    },
    checkFilled: () => void work(),
    failure: () => failure,
    close() {
      closed = true;
      leaseChecked?.();
      clearTimeout(timer);
      clearTimeout(hintTimer);
    },
  };
}
