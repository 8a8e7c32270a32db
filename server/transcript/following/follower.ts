/**
 * A connection that follows transcripts of a session. It starts with baselines, which take time to send; batches that
 * arrive meanwhile are held until they are sent.
 */
import { QUEUED_BYTES, QUEUED_FRAMES_PER_SESSION } from '#server/events/delivery-queue.ts';
import type { Companion, SessionChannel } from '#server/events/frame-handler.ts';
import type { StreamPosition } from '#server/events/frame.ts';
import type { Logger } from '#server/logging/log.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { gradeOf, type Grades } from './grades.ts';
import type { Outgoing } from './outgoing.ts';

/** Frames that bring the client to the position from which live batches continue. */
export type Baseline = AsyncIterable<Outgoing>;

export interface Follower {
  grades: Grades;
  /** Numbers of the last batch in the baseline, by agent. No frames are sent for an agent without an entry. */
  readonly marks: Map<string, number>;
  readonly companion: Companion;
  /** Sends baselines in order, then the held batches. Resolves when all of it is queued or cancelled. */
  begin(baselines: readonly Baseline[], position: StreamPosition): Promise<void>;
  /** Sends a batch that its baselines do not contain, with the operations that its agent's grade admits. */
  send(outgoing: Outgoing): void;
}

export interface FollowerDeps {
  channel: SessionChannel;
  /** Resolves when the socket is below its high-water mark. */
  room(): Promise<void>;
  /** The follower's subscription has ended. */
  ended(): void;
  /** Types of the events that the transcript conveys. */
  projected: ReadonlySet<string>;
  log: Logger;
}

export function createFollower({ channel, room, ended, projected, log }: FollowerDeps): Follower {
  let waiting: Baseline[] = [];
  let held: Outgoing[] | undefined;
  let heldBytes = 0;
  let sending: Promise<void> | undefined;
  /** Incremented at each cancellation, to detect stale runs. */
  let rounds = 0;

  function giveUp(): void {
    rounds += 1;
    waiting = [];
    held = undefined;
    heldBytes = 0;
    sending = undefined;
  }

  /** False when it was cancelled. */
  async function sendBaselines(round: number): Promise<boolean> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      for await (const outgoing of next) {
        await room();
        if (rounds !== round) return false;
        const bytes = outgoing.bytes(gradeOf(follower.grades, outgoing.agentId));
        if (bytes) channel.send(bytes, outgoing.position, false);
        if (rounds !== round) return false;
      }
      if (rounds !== round) return false;
    }
    return true;
  }

  async function run(round: number, position: StreamPosition): Promise<void> {
    try {
      if (!(await sendBaselines(round))) return;
    } catch (error) {
      log.error('a transcript could not be sent', { err: error });
      // The client reads the snapshot again.
      if (rounds === round) channel.cut(position);
      return;
    }
    const late = held ?? [];
    held = undefined;
    heldBytes = 0;
    sending = undefined;
    for (const outgoing of late) {
      if (rounds === round) follower.send(outgoing);
    }
  }

  function hold(list: Outgoing[], outgoing: Outgoing, bytes: number): void {
    list.push(outgoing);
    heldBytes += bytes;
    if (list.length > QUEUED_FRAMES_PER_SESSION || heldBytes > QUEUED_BYTES) channel.cut(outgoing.position);
  }

  const follower: Follower = {
    grades: new Map(),
    marks: new Map(),
    companion: {
      hides: ({ type, payload: { agentId } }) =>
        projected.has(type) && gradeOf(follower.grades, typeof agentId === 'string' ? agentId : MAIN_AGENT) !== 'off',
      cut: giveUp,
      end() {
        giveUp();
        ended();
      },
    },
    begin(baselines, position) {
      if (baselines.length === 0) return sending ?? Promise.resolve();
      waiting.push(...baselines);
      held ??= [];
      sending ??= run(rounds, position);
      return sending;
    },
    send(outgoing) {
      const { agentId, seq, position, atOnce } = outgoing;
      const mark = follower.marks.get(agentId);
      if (mark === undefined || seq <= mark) return;
      const bytes = outgoing.bytes(gradeOf(follower.grades, agentId));
      if (!bytes) return;
      if (held) hold(held, outgoing, bytes.length);
      else channel.send(bytes, position, atOnce);
    },
  };
  return follower;
}
