/** A fold of transcripts to which tests apply records, and builders of records. */
import { features } from '#server/features/features.ts';
import { event, internal, type JournalRecord } from '#server/journal/records.ts';
import type { VolatileEvent } from '#server/journal/log-listeners.ts';
import { foldRecord, startTranscripts, transcriptOf } from '#server/transcript/fold.ts';
import { createMapper } from '#server/transcript/mapper.ts';
import type { StoredOp, StoredToolFrame } from '#server/transcript/reducer/state.ts';
import { mapVolatile } from '#server/transcript/stream.ts';
import type { Part } from '#schema/engine.ts';
import { SESSION_ID } from '#support/session-logs.ts';

const MAIN = 'main';
/** Time of all records, in ms. */
export const T = 1_000;
export const AT = new Date(T).toISOString();

export function startFold() {
  const mapper = createMapper(features);
  const fold = startTranscripts({ session_id: SESSION_ID });
  const { state } = transcriptOf(fold, MAIN);
  return {
    fold,
    state,
    tell: (...records: JournalRecord[]): StoredOp[] => records.flatMap((record) => foldRecord(fold, mapper, record, T)),
    stream: (...facts: VolatileEvent[]): StoredOp[] =>
      facts.flatMap((fact) => mapVolatile(transcriptOf(fold, MAIN), fact)),
    /** The frames of the newest step. */
    frames() {
      const turn = state.items.findLast((item) => item.kind === 'turn');
      return turn?.steps.at(-1)?.frames ?? [];
    },
    /** The frame of a call. */
    call(id: string): StoredToolFrame | undefined {
      const turns = state.items.filter((item) => item.kind === 'turn');
      const frames = turns.flatMap(({ steps }) => steps.flatMap((step) => step.frames));
      return frames.find((frame) => frame.kind === 'tool' && frame.toolCallId === id) as StoredToolFrame | undefined;
    },
  };
}

export const turn = (more: object = {}) =>
  event(MAIN, 'turn.started', { turnId: 0, origin: { kind: 'user' }, prompt: 'Hi', ...more });
export const ended = (reason: 'completed' | 'failed' | 'cancelled') => event(MAIN, 'turn.ended', { turnId: 0, reason });
export const step = (number = 1) => event(MAIN, 'turn.step.started', { turnId: 0, step: number, stepId: `s${number}` });
export const answer = (parts: Part[], calls: { id: string; name: string }[] = [], number = 1) =>
  internal(MAIN, 'step.response', {
    turnId: 0,
    step: number,
    stepId: `s${number}`,
    parts,
    calls: calls.map((call) => ({ ...call, arguments: '{}' })),
    model: 'm1',
  });
export const text = (delta: string): VolatileEvent => ({ type: 'assistant.delta', fields: { turnId: 0, delta } });
export const thought = (delta: string): VolatileEvent => ({ type: 'thinking.delta', fields: { turnId: 0, delta } });
export const argument = (toolCallId: string, argumentsPart: string): VolatileEvent => ({
  type: 'tool.call.delta',
  fields: { turnId: 0, toolCallId, name: 'Write', argumentsPart },
});
