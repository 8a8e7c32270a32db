/** Hooks in the transcript: a marker in the timeline for each result. */
import { eventFields, markerOp } from '#server/transcript/agent-transcript.ts';
import type { RecordMappers } from '#server/transcript/transcript-rows.ts';

export const hooksTranscript: RecordMappers = {
  'hook.result': (agent, record, t) => [markerOp(agent, 'hook', eventFields(record), t)],
};
