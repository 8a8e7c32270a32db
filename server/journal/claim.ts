/** Ownership of a session's journal: becoming its writer, the crash recovery that this includes, and its release. */
import { ServiceError } from '#server/errors/service-error.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import type { Appender } from './append.ts';
import type { CatchUp } from './catch-up.ts';
import { settleCrash } from './crash-recovery.ts';
import type { JournalFiles } from './journal-files.ts';
import { acquireLock, lockOwner } from './lock.ts';
import type { OpenJournal } from './open-journal.ts';
import { unsent } from './records.ts';
import { survivingTasks } from './surviving-tasks.ts';
import { openWriter, type JournalWriter } from './writer.ts';

export interface Claim {
  /** See `SessionLog`. */
  claim(): Promise<void>;
  /** Settles what an exited process left open; waits for the first append if that emits no event. */
  settleAbandoned(): Promise<void>;
  /** Resolves when a running claim has succeeded or failed. */
  ended(): Promise<void>;
  /** Flushes everything to the disk and releases the lock. */
  giveBack(): Promise<void>;
}

export interface ClaimDeps {
  appender: Appender;
  catchUp: CatchUp;
  holder: LeaseHolder;
  files: JournalFiles | undefined;
}

export function createClaim(journal: OpenJournal, { appender, catchUp, holder, files }: ClaimDeps): Claim {
  const { dir, sessionId, log } = journal;
  let claiming: Promise<void> | undefined;

  function claim(): Promise<void> {
    claiming ??= takeLock().catch((error: unknown) => {
      claiming = undefined;
      throw journal.unwritable(error);
    });
    return claiming;
  }

  async function takeLock(): Promise<void> {
    journal.assertWritable();
    const lock = await acquireLock(dir, sessionId, holder);
    let surviving: ReadonlySet<string>;
    try {
      await catchUp();
      surviving = await survivingTasks(journal.view.state);
      journal.assertWritable();
      const writer = openWriter(dir, {
        fence: lock.fence,
        length: journal.view.length,
        beforeSync: journal.blobs.sync,
        onSyncError: journal.fail,
        files,
      });
      journal.held = { lock, writer };
      if (journal.view.length === 0) writeHeader(writer);
    } catch (error) {
      journal.held?.writer.close().catch(() => undefined);
      journal.held = undefined;
      await lock.release();
      throw error;
    }
    const { state } = journal.view;
    const drafts = settleCrash(state, surviving);
    if (drafts.length === 0) return;
    if (drafts.every((draft) => draft.unsent)) appender.settleLater(drafts);
    else appender.write(state.lastTime, drafts);
  }

  function writeHeader(writer: JournalWriter): void {
    const { view } = journal;
    writer.write(`${JSON.stringify(view.header)}\n`);
    view.length = view.ownStart = writer.length();
  }

  async function settleAbandoned(): Promise<void> {
    if (settleCrash(journal.view.state).length === 0 || (await lockOwner(dir, holder))) return;
    const surviving = await survivingTasks(journal.view.state);
    // Computed again, because another caller may have settled meanwhile.
    const drafts = journal.held ? [] : settleCrash(journal.view.state, surviving);
    if (drafts.length === 0) return;
    if (journal.readOnly || drafts.every((draft) => draft.unsent)) {
      appender.settleLater(drafts.map(unsent));
      return;
    }
    try {
      await claim();
    } catch (error) {
      if (error instanceof ServiceError && error.code === 40901) return;
      log.error('an interrupted session could not be settled on disk', { sessionId, err: error });
      appender.settleLater(settleCrash(journal.view.state, surviving).map(unsent));
    }
  }

  return {
    claim,
    settleAbandoned,
    async ended() {
      await claiming?.catch(() => undefined);
    },
    async giveBack() {
      if (!journal.held) return;
      const { lock, writer } = journal.held;
      journal.held = undefined;
      await writer.close().catch((error: unknown) => {
        log.error('a session could not be synced when it was closed', { sessionId, err: error });
      });
      await lock.release();
    },
  };
}
