/**
 * The transcripts of a loaded session: folded from its journal at the first read, and kept up to date while they are
 * read, including streamed output. Each change is a numbered batch of operations.
 */
import type { Clock } from '#server/clock.ts';
import { followLog, type FollowedLog } from '#server/journal/follow-log.ts';
import type { Batch } from '#server/journal/records.ts';
import type { LogListener, VolatileEvent } from '#server/journal/log-listeners.ts';
import { foldRecord, startTranscripts, transcriptOf, type TranscriptFold } from './fold.ts';
import type { Mapper } from './mapper.ts';
import type { StoredBatch, OpJournal, OpJournals } from './op-journal.ts';
import { mapVolatile } from './stream.ts';
import type { StoredOp } from './reducer/state.ts';
import { startThrottle } from './throttle.ts';

/** Open transcripts. Reads without an await in between are consistent with each other. */
export interface OpenTranscripts {
  readonly fold: TranscriptFold;
  /** Number of the last batch in the agent's state; 0 for an unknown agent. */
  seq(agentId: string): number;
  /** The batches after a number, oldest first; undefined when they do not connect to `seq`. */
  since(agentId: string, seq: number): StoredBatch[] | undefined;
  /** Sets the listener of later changes, replacing the previous one. Calls its `over` immediately if already closed. */
  tell(listener: TranscriptListener | undefined): void;
}

/** Must neither block nor throw. */
export interface TranscriptListener {
  /** The agent enters the roster; its transcript is empty so far. */
  appears(agentId: string): void;
  batch(agentId: string, batch: StoredBatch): void;
  /** Updates have ended: the session is unloaded, or has to be opened `again`. */
  over(again: boolean): void;
}

export interface LiveTranscripts {
  /** Folds the recorded lines, unless that is done. Throws `internal.error` for a damaged journal. */
  open(): Promise<OpenTranscripts>;
  /** Evicts the fold unless it was opened after `time` (ms) or has followers; the next `open` folds again. */
  releaseUnread(time: number): void;
  /** Ends updates when the session is unloaded. Later readers receive the recorded state, without numbers. */
  close(): void;
}

export interface LiveTranscriptsDeps {
  log: FollowedLog & { readonly sessionId: string };
  mapper: Mapper;
  journals: OpJournals;
  /** A fold of the beginning of the file, which is continued. */
  known?: KnownTranscripts | undefined;
  /** Volatile events that are in no record yet, in order. */
  unrecorded(): { agent: string; event: VolatileEvent }[];
  clock: Clock;
}

/** A fold of all lines up to this byte of the file. */
export interface KnownTranscripts {
  fold: TranscriptFold;
  length: number;
}

interface Opened extends OpenTranscripts {
  isFollowed(): boolean;
  /** Ends updates; `again` when the session stays loaded. */
  close(again: boolean): void;
}

/** Creates the transcripts; nothing is read before `open`. */
export function createLiveTranscripts(deps: LiveTranscriptsDeps): LiveTranscripts {
  const { log, mapper, journals, unrecorded, clock } = deps;
  let { known } = deps;
  let opening: Promise<Opened> | undefined;
  let closed = false;
  let openedAt = 0;

  function forget(opened: Promise<Opened>): void {
    if (opening === opened) opening = undefined;
  }

  return {
    open() {
      openedAt = clock.now();
      if (opening) return opening;
      const opened: Promise<Opened> = openNow({ log, mapper, journals, known, unrecorded, clock }, () =>
        forget(opened),
      );
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

  /** The numbers of a new agent start at 1; others continue above all numbers of earlier loads. */
  function journalOf(agentId: string, base = 0): OpJournal {
    const known = kept.get(agentId) ?? journals.open(base);
    kept.set(agentId, known);
    return known;
  }

  function add(agentId: string, ops: StoredOp[]): void {
    const batch = journalOf(agentId).add(ops);
    listener?.batch(agentId, batch);
  }

  const throttle = startThrottle(clock, add);

  function line({ t, records }: Batch): void {
    for (const record of records) {
      const { agent } = record;
      const known = fold.roster.has(agent);
      const ops = foldRecord(fold, mapper, record, t);
      if (fold.live && !known && fold.roster.has(agent)) listener?.appears(agent);
      if (!fold.live || ops.length === 0) continue;
      throttle.flush(agent);
      add(agent, ops);
    }
  }

  function close(again: boolean): void {
    if (closed) return;
    closed = true;
    stop();
    throttle.close();
    for (const journal of kept.values()) journal.close();
    kept.clear();
    lost();
    listener?.over(again);
    listener = undefined;
  }

  /** Closes on failure: the next reader opens a new fold. */
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
    volatile(agentId, event) {
      // Before that, the event is part of `unrecorded`.
      if (fold.live) keepUp(() => throttle.take(agentId, mapVolatile(transcriptOf(fold, agentId), event)));
    },
    restarted: () => close(true),
  };
  stop = await followLog(log, upkeep, known?.length);
  fold.live = true;
  // Includes the time of the last line: the clock may have been set back since an earlier load.
  const base = Math.max(clock.now(), log.state.lastTime, journals.highest + 1);
  for (const [id, agent] of fold.agents) {
    agent.live = true;
    if (agent.begun) journalOf(id, base);
  }
  for (const { agent, event } of deps.unrecorded()) mapVolatile(transcriptOf(fold, agent), event);

  return {
    fold,
    seq(agentId) {
      throttle.flush(agentId);
      return kept.get(agentId)?.latest ?? 0;
    },
    since(agentId, seq) {
      throttle.flush(agentId);
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
