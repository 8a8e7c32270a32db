/** Transcripts in the form that the server sends, for tests of the page's state. */
import { applyOps } from '#server/transcript/reducer/apply.ts';
import { emptyTranscript } from '#server/transcript/reducer/state.ts';
import type { Frame, Interaction, Step, TranscriptOp, TranscriptState } from '@service-code/client';
import { emptyView, mainOf, type SessionView } from '../../../web/state/session-view.ts';
import type { ToolFrame, Turn } from '../../../web/state/rows.ts';
import { createTimeline } from '../../../web/state/timeline.ts';

export const AT = '2026-01-02T03:04:05.000Z';

export function turn(ordinal: number, over: Partial<Omit<Turn, 'steps'>> = {}): TranscriptOp {
  const header = { turnId: `t${ordinal}`, ordinal, prompt: `Prompt ${ordinal}`, state: 'running' as const };
  return {
    op: 'turn.upsert',
    turn: { kind: 'turn', origin: { kind: 'user', payload: { kind: 'user' } }, startedAt: AT, ...header, ...over },
  };
}

export function step(turnId: number, ordinal: number, over: Partial<Omit<Step, 'frames'>> = {}): TranscriptOp {
  const header = { stepId: `t${turnId}.${ordinal}`, turnId: `t${turnId}`, ordinal, state: 'running' as const };
  return { op: 'step.upsert', turnId: `t${turnId}`, step: { kind: 'step', ...header, ...over } };
}

/** Adds a frame to a step named as `t0.1`. */
export const frame = (stepId: string, one: Frame): TranscriptOp => ({
  op: 'frame.upsert',
  turnId: stepId.split('.')[0] ?? '',
  stepId,
  frame: one,
});

export const text = (stepId: string, number: number, words: string): TranscriptOp =>
  frame(stepId, { kind: 'text', frameId: `${stepId}.f${number}`, role: 'assistant', text: words });

export const tool = (stepId: string, toolCallId: string, over: Partial<ToolFrame> = {}): TranscriptOp =>
  frame(stepId, {
    kind: 'tool',
    frameId: `${stepId}.${toolCallId}`,
    toolCallId,
    name: 'Bash',
    state: 'running',
    ...over,
  });

export const marker = (number: number, name: string, payload: object): TranscriptOp => ({
  op: 'marker.upsert',
  item: { kind: 'marker', markerId: `m${number}`, marker: name, payload, at: AT },
});

export const asked = (interaction: Omit<Interaction, 'state'> & Partial<Interaction>): TranscriptOp => ({
  op: 'interaction.upsert',
  interaction: { state: 'pending', ...interaction },
});

/** The state after the operations; a given state is mutated. */
export function transcript(ops: readonly TranscriptOp[], from: TranscriptState = emptyTranscript()): TranscriptState {
  applyOps(from, ops);
  return from;
}

/** A session whose agents have received these operations. */
export function viewOf(
  main: readonly TranscriptOp[],
  others: Record<string, readonly TranscriptOp[]> = {},
): SessionView {
  const agents = new Map(Object.entries({ main, ...others }).map(([id, ops]) => [id, transcript(ops)]));
  const state = mainOf(agents);
  return { ...emptyView, id: 'session_1', agents, main: state, rows: createTimeline()(state) };
}
