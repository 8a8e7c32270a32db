/** Encodes transcript frames for clients, a single time per grade for all receivers. */
import { frameText, type StreamPosition } from '#server/events/frame.ts';
import type { Grade } from '#schema/frames/transcripts.ts';
import type { TranscriptBatch, TranscriptReset } from '#schema/frames/transcript-updates.ts';
import type { TranscriptOp } from '#schema/rest/transcript-ops.ts';
import { admits } from './grades.ts';

/** Session, time and event stream position of a frame. */
export interface Stamp {
  sessionId: string;
  time: number;
  position: StreamPosition;
}

export interface Outgoing {
  readonly agentId: string;
  /** Number of the last batch that the receiver has after it. */
  readonly seq: number;
  readonly position: StreamPosition;
  /** Skips the batch of the delivery queue, since it was already delayed for joining. */
  readonly atOnce: boolean;
  /** UTF-8 of the frame; undefined when the grade admits none of its operations. */
  bytes(grade: Grade): Buffer | undefined;
}

function encoded({ sessionId, time, position }: Stamp, payload: TranscriptReset | TranscriptBatch): Buffer {
  const { seq, epoch } = position;
  return Buffer.from(frameText({ type: payload.type, seq, sessionId, time, payload, epoch, volatile: true }));
}

export function outgoingBatch(stamp: Stamp, agentId: string, seq: number, ops: readonly TranscriptOp[]): Outgoing {
  /** Encoded frames by number of operations: a higher grade admits a superset of a lower one. */
  const texts = new Map<number, Buffer>();
  return {
    agentId,
    seq,
    position: stamp.position,
    atOnce: ops.some(({ op }) => op === 'append'),
    bytes(grade) {
      const admitted = ops.filter((op) => admits(grade, op));
      if (admitted.length === 0) return undefined;
      const text =
        texts.get(admitted.length) ?? encoded(stamp, { type: 'transcript.ops', agent_id: agentId, ops: admitted, seq });
      texts.set(admitted.length, text);
      return text;
    },
  };
}

/** `reset` is the baseline up to batch `seq`, with the detail that the receivers' grades admit. */
export function outgoingReset(stamp: Stamp, seq: number, reset: TranscriptReset): Outgoing {
  let text: Buffer | undefined;
  return {
    agentId: reset.agent_id,
    seq,
    position: stamp.position,
    atOnce: false,
    bytes: (grade) => (grade === 'off' ? undefined : (text ??= encoded(stamp, reset))),
  };
}
