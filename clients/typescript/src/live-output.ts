/** Accumulates live output of calls: each chunk arrives separately and replaces the one before in the transcript. */
import type { TranscriptBatch } from './frames.ts';
import type { TranscriptState } from './transcript.ts';

/** Retained output of a call, from its end. */
const OUTPUT_CHARS = 64 * 1024;

type Op = TranscriptBatch['ops'][number];

/** Returns the ops of a batch with new chunks appended to the output that `state` has of their calls. */
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
