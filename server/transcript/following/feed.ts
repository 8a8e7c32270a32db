/** Sends the transcripts of a loaded session to their followers, in the order of the batches. */
import { createTimeSlice } from '#server/async/yield.ts';
import type { Clock } from '#server/clock.ts';
import type { StreamPosition } from '#server/events/frame.ts';
import { blobTexts } from '#server/journal/texts.ts';
import type { Logger } from '#server/logging/log.ts';
import type { LiveTranscripts, OpenTranscripts } from '../live.ts';
import type { StoredBatch } from '../op-journal.ts';
import { takeReset, type TranscriptSource } from '../reads.ts';
import { shownOp } from '../shown.ts';
import type { Baseline, Follower } from './follower.ts';
import { admits, entryOf, gradeOf, hasSteps, isHigher, type Grades } from './grades.ts';
import { outgoingBatch, outgoingReset, type Outgoing, type Stamp } from './outgoing.ts';

/** A loaded session. */
export interface FollowedSession {
  readonly id: string;
  readonly transcripts: Pick<LiveTranscripts, 'open'>;
  readonly load: TranscriptSource['load'];
  /** Position of its event stream. */
  position(): StreamPosition;
}

export interface Feed {
  readonly open: OpenTranscripts;
  /**
   * Sets a follower's grades from now on, with a baseline of each agent for which it has none or too little. `since`
   * has the client's last batches, by agent. Resolves when all of it is queued.
   */
  begin(follower: Follower, grades: Grades, since: ReadonlyMap<string, number>): Promise<void>;
  /** Stops sending. */
  close(): void;
}

export interface FeedDeps {
  session: FollowedSession;
  open: OpenTranscripts;
  followers(): Iterable<Follower>;
  /** The feed has ended; `again` when the same session has to be opened again. */
  over(again: boolean): void;
  clock: Clock;
  log: Logger;
}

/** Resets that all followers share which need them at one moment. */
type Resets = Map<string, Baseline>;

const noneSince: ReadonlyMap<string, number> = new Map();

/** Starts sending; all existing followers except `but` get a baseline of every agent. */
export function startFeed({ session, open, followers, over, clock, log }: FeedDeps, but?: Follower): Feed {
  const source: TranscriptSource = { fold: open.fold, live: open, load: session.load };
  /** Pending sends whose long texts are being read: later frames wait for them. */
  let last: Promise<void> | undefined;

  const stamp = (): Stamp => ({ sessionId: session.id, time: clock.now(), position: session.position() });

  function tell(outgoing: Outgoing): void {
    for (const follower of followers()) follower.send(outgoing);
  }

  /** Runs after all pending sends, immediately if there are none. */
  function inOrder(run: () => void, ready?: Promise<void>): void {
    if (!last && !ready) return run();
    const behind = Promise.all([last, ready])
      .then(run)
      .catch((error: unknown) => log.error('a transcript could not be sent', { sessionId: session.id, err: error }))
      .finally(() => {
        if (last === behind) last = undefined;
      });
    last = behind;
  }

  /** The operations of a batch that at least one follower's grade admits. */
  function wanted(agentId: string, { ops }: StoredBatch) {
    const grades = new Set([...followers()].map((follower) => gradeOf(follower.grades, agentId)));
    return ops.filter((op) => [...grades].some((grade) => admits(grade, op)));
  }

  function batch(agentId: string, held: StoredBatch): void {
    const ops = wanted(agentId, held);
    if (ops.length === 0) return;
    const now = stamp();
    if (blobTexts(ops).length === 0) {
      inOrder(() => tell(outgoingBatch(now, agentId, held.seq, ops.map(shownOp))));
      return;
    }
    let shown: Outgoing | undefined;
    // Started immediately, while the record's texts are in memory.
    const loaded = session.load(ops).then((whole) => {
      shown = outgoingBatch(now, agentId, held.seq, whole.map(shownOp));
    });
    inOrder(() => shown && tell(shown), loaded);
  }

  /** Sends an empty baseline: an agent has no content before it enters the roster. */
  function appears(agentId: string): void {
    const snapshot = {
      items: [],
      tasks: [],
      interactions: [],
      attachments: [],
      todos: [],
      prompts: [],
      meta: {},
      hasMoreOlder: false,
    };
    const seq = open.seq(agentId);
    const outgoing = outgoingReset(stamp(), seq, {
      type: 'transcript.reset',
      agent_id: agentId,
      snapshot,
      has_more_older: false,
      seq,
    });
    inOrder(() => {
      for (const follower of followers()) {
        if (follower.marks.has(agentId) || gradeOf(follower.grades, agentId) === 'off') continue;
        follower.marks.set(agentId, seq - 1);
        follower.send(outgoing);
      }
    });
  }

  function resetOf(agentId: string, withSteps: boolean, resets: Resets): Baseline {
    const key = `${withSteps} ${agentId}`;
    const known = resets.get(key);
    if (known) return known;
    const now = stamp();
    const taken = takeReset(source, agentId, withSteps);
    let made: Promise<Outgoing> | undefined;
    const baseline: Baseline = {
      async *[Symbol.asyncIterator]() {
        made ??= taken.load().then((reset) => outgoingReset(now, taken.seq, reset));
        yield await made;
      },
    };
    resets.set(key, baseline);
    return baseline;
  }

  async function* replayOf(agentId: string, batches: readonly StoredBatch[], now: Stamp): AsyncGenerator<Outgoing> {
    const slice = createTimeSlice();
    for (const { seq, ops } of batches) {
      if (slice.due()) await slice.rest();
      yield outgoingBatch(now, agentId, seq, (await session.load(ops)).map(shownOp));
    }
  }

  function begin(follower: Follower, grades: Grades, since: ReadonlyMap<string, number>, resets: Resets) {
    const agents = [...open.fold.roster.keys()];
    // Flushes pending joined operations to the followers with their previous grades.
    for (const agentId of agents) open.seq(agentId);
    const before = follower.grades;
    follower.grades = grades;
    const baselines = agents.flatMap((agentId): Baseline[] => {
      const grade = gradeOf(grades, agentId);
      if (grade === 'off') return [];
      const asked = entryOf(since, agentId);
      const batches = asked === undefined ? undefined : open.since(agentId, asked);
      const isNew = !follower.marks.has(agentId) || isHigher(grade, gradeOf(before, agentId));
      if (!batches && asked === undefined && !isNew) return [];
      follower.marks.set(agentId, open.seq(agentId));
      return [batches ? replayOf(agentId, batches, stamp()) : resetOf(agentId, hasSteps(grade), resets)];
    });
    return follower.begin(baselines, session.position());
  }

  const resets: Resets = new Map();
  for (const follower of followers()) {
    // All marks belong to an earlier load of the session.
    follower.marks.clear();
    if (follower !== but) void begin(follower, follower.grades, noneSince, resets);
  }
  open.tell({ appears, batch, over });

  return {
    open,
    begin: (follower, grades, since) => begin(follower, grades, since, new Map()),
    close: () => open.tell(undefined),
  };
}
