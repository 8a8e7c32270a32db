/**
 * A connection that follows transcripts of a session. It begins with baselines, which take their time; what happens
 * meanwhile is held back behind them.
 */
import { QUEUED_BYTES, QUEUED_FRAMES_PER_SESSION } from '#server/events/delivery-queue.ts';
import type { Companion, SessionChannel } from '#server/events/frame-handler.ts';
import type { StreamPosition } from '#server/events/frame.ts';
import type { Logger } from '#server/logging/log.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { gradeOf, type Grades } from './grades.ts';
import type { Outgoing } from './outgoing.ts';
import { isProjected } from './projected.ts';

/** Frames that lead to the point from which on live batches follow. */
export type Baseline = AsyncIterable<Outgoing>;

export interface Follower {
  grades: Grades;
  /** By agent: the last batch of its baseline. Of an agent without one nothing is sent. */
  readonly marks: Map<string, number>;
  readonly companion: Companion;
  /** Sends baselines, in order, and then what was held back. Resolves when all of it is queued, or given up. */
  begin(baselines: readonly Baseline[], position: StreamPosition): Promise<void>;
  /** Sends a batch that its baselines do not contain, as far as the grade of its agent admits it. */
  send(outgoing: Outgoing): void;
}

export interface FollowerDeps {
  channel: SessionChannel;
  /** Resolves when the socket takes data. */
  room(): Promise<void>;
  /** Nothing is followed any more. */
  ended(): void;
  log: Logger;
}

export function createFollower({ channel, room, ended, log }: FollowerDeps): Follower {
  let waiting: Baseline[] = [];
  let held: Outgoing[] | undefined;
  let heldBytes = 0;
  let sending: Promise<void> | undefined;
  /** Counts what was given up. */
  let rounds = 0;

  function giveUp(): void {
    rounds += 1;
    waiting = [];
    held = undefined;
    heldBytes = 0;
    sending = undefined;
  }

  /** False when it was given up. */
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
      // The client reads it anew.
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
        isProjected(type) && gradeOf(follower.grades, typeof agentId === 'string' ? agentId : MAIN_AGENT) !== 'off',
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
