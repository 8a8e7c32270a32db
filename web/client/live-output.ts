/** Live output of calls: each piece of it comes alone, and takes the place of the one before; people want to see it grow. */
import type { TranscriptBatch, TranscriptState } from './types.ts';

/** Of a call, from its end. */
const OUTPUT_CHARS = 64 * 1024;

type Op = TranscriptBatch['ops'][number];

/** The ops of a batch with new pieces behind what the state that they meet has of their calls. */
export const withOutput = (state: TranscriptState, ops: readonly Op[]): Op[] => ops.map((op) => grown(state, op));

function grown(state: TranscriptState, op: Op): Op {
  if (op.op !== 'frame.upsert' || op.frame.kind !== 'tool' || !op.frame.progress?.text) return op;
  const { progress, frameId } = op.frame;
  const turn = state.byId.get(op.turnId);
  const step = turn?.kind === 'turn' ? turn.steps.findLast(({ stepId }) => stepId === op.stepId) : undefined;
  const known = step?.frames.findLast((frame) => frame.frameId === frameId);
  const before = known?.kind === 'tool' ? (known.progress?.text ?? '') : '';
  return {
    ...op,
    frame: { ...op.frame, progress: { ...progress, text: (before + progress.text).slice(-OUTPUT_CHARS) } },
  };
}
