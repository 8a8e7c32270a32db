/**
 * The transcripts of a session that is loaded: folded from its journal when they are first read, and kept up while somebody
 * reads them, with what streams on top. Each change is a batch of operations with a number.
 */
import type { Clock } from '#server/clock.ts';
import { followLog, type FollowedLog } from '#server/journal/follow-log.ts';
import type { Batch } from '#server/journal/records.ts';
import type { LogListener, VolatileFact } from '#server/journal/log-listeners.ts';
import { foldRecord, startTranscripts, transcriptOf, type TranscriptFold } from './fold.ts';
import type { Mapper } from './mapper.ts';
import type { HeldBatch, OpJournal, OpJournals } from './op-journal.ts';
import { mapVolatile } from './stream.ts';
import type { HeldOp } from './reducer/state.ts';
import { startThinning } from './thinning.ts';

/** Transcripts that are open: what is read of them without an await in between is as of one moment. */
export interface OpenTranscripts {
  readonly fold: TranscriptFold;
  /** The number of the last batch that the agent's state contains; 0 for an agent that there is not. */
  seq(agentId: string): number;
  /** The batches behind a number, oldest first; undefined when they do not lead to `seq`. */
  since(agentId: string, seq: number): HeldBatch[] | undefined;
  /** Told of all that follows, in place of who was before; undefined tells nobody. Over at once where nothing follows. */
  tell(listener: TranscriptListener | undefined): void;
}

/** Must neither wait nor throw. */
export interface TranscriptListener {
  /** The agent enters the roster now: what the transcript has of it is what it had before. */
  appears(agentId: string): void;
  batch(agentId: string, batch: HeldBatch): void;
  /** Nothing is kept up any more: the session goes, or it has to be opened `again`. */
  over(again: boolean): void;
}

export interface LiveTranscripts {
  /** Folds what was recorded, unless that is done. Throws 50001 of a damaged journal. */
  open(): Promise<OpenTranscripts>;
  /**
   * Releases the fold unless it was opened after `time` (ms) or has followers; the next `open` folds it again.
   */
  releaseUnread(time: number): void;
  /** The session goes: nothing is kept up any more. Who asks too late gets what is recorded, without numbers. */
  close(): void;
}

export interface LiveTranscriptsDeps {
  log: FollowedLog & { readonly sessionId: string };
  mapper: Mapper;
  journals: OpJournals;
  /** What the file's beginning has folded to; it is gone on with. */
  known?: KnownTranscripts | undefined;
  /** What agents told that is in no record, in order. */
  untold(): { agent: string; fact: VolatileFact }[];
  clock: Clock;
}

/** The fold of all lines up to this byte of the file. */
export interface KnownTranscripts {
  fold: TranscriptFold;
  length: number;
}

interface Opened extends OpenTranscripts {
  isFollowed(): boolean;
  /** Nothing is kept up any more; `again` when the session stays. */
  close(again: boolean): void;
}

/** Creates them; nothing is read before they are opened. */
export function createLiveTranscripts({ known: folded, ...deps }: LiveTranscriptsDeps): LiveTranscripts {
  let known = folded;
  let opening: Promise<Opened> | undefined;
  let closed = false;
  let openedAt = 0;

  function forget(opened: Promise<Opened>): void {
    if (opening === opened) opening = undefined;
  }

  return {
    open() {
      openedAt = deps.clock.now();
      if (opening) return opening;
      const opened: Promise<Opened> = openNow({ ...deps, known }, () => forget(opened));
      opening = opened;
      known = undefined;
      opened.then(
        (made) => closed && made.close(false),
        () => forget(opened),
      );
      return opened;
    },
    releaseUnread(time) {
      const isUnread = () => openedAt <= time;
      if (!isUnread()) return;
      opening?.then(
        (opened) => {
          if (isUnread() && !opened.isFollowed()) opened.close(true);
        },
        () => undefined,
      );
    },
    close() {
      closed = true;
      opening?.then(
        (opened) => opened.close(false),
        () => undefined,
      );
      opening = undefined;
    },
  };
}

async function openNow(deps: LiveTranscriptsDeps, lost: () => void): Promise<Opened> {
  const { log, mapper, journals, clock, known } = deps;
  const fold = known?.fold ?? startTranscripts({ session_id: log.sessionId });
  const kept = new Map<string, OpJournal>();
  let stop = () => {};
  let listener: TranscriptListener | undefined;
  let closed = false;

  /** An agent that nothing was told of yet begins at 1; the others go on above all numbers of earlier lives. */
  function journalOf(agentId: string, base = 0): OpJournal {
    const known = kept.get(agentId) ?? journals.open(base);
    kept.set(agentId, known);
    return known;
  }

  function add(agentId: string, ops: HeldOp[]): void {
    const batch = journalOf(agentId).add(ops);
    listener?.batch(agentId, batch);
  }

  const thinning = startThinning(clock, add);

  function line({ t, records }: Batch): void {
    for (const record of records) {
      const { agent } = record;
      const known = fold.roster.has(agent);
      const ops = foldRecord(fold, mapper, record, t);
      if (fold.live && !known && fold.roster.has(agent)) listener?.appears(agent);
      if (!fold.live || ops.length === 0) continue;
      thinning.flush(agent);
      add(agent, ops);
    }
  }

  function close(again: boolean): void {
    if (closed) return;
    closed = true;
    stop();
    thinning.close();
    for (const journal of kept.values()) journal.close();
    kept.clear();
    lost();
    listener?.over(again);
    listener = undefined;
  }

  /** A state that could not be kept up is read anew by whoever asks next. */
  function keepUp(call: () => void): void {
    try {
      call();
    } catch (error) {
      close(true);
      throw error;
    }
  }

  const upkeep: LogListener = {
    line: (batch) => keepUp(() => line(batch)),
    volatile(agentId, fact) {
      // Before, it is among what is untold.
      if (fold.live) keepUp(() => thinning.take(agentId, mapVolatile(transcriptOf(fold, agentId), fact)));
    },
    restarted: () => close(true),
  };
  stop = await followLog(log, upkeep, known?.length);
  fold.live = true;
  // The time of the last line as well: the clock may have been set back since an earlier life of the session.
  const base = Math.max(clock.now(), log.state.lastTime, journals.highest + 1);
  for (const [id, agent] of fold.agents) {
    agent.live = true;
    if (agent.begun) journalOf(id, base);
  }
  for (const { agent, fact } of deps.untold()) mapVolatile(transcriptOf(fold, agent), fact);

  return {
    fold,
    seq(agentId) {
      thinning.flush(agentId);
      return kept.get(agentId)?.latest ?? 0;
    },
    since(agentId, seq) {
      thinning.flush(agentId);
      const journal = kept.get(agentId);
      if (!journal) return seq === 0 ? [] : undefined;
      return journal.since(seq);
    },
    tell(next) {
      listener = next;
      if (closed) listener?.over(false);
    },
    isFollowed: () => listener !== undefined,
    close,
  };
}
