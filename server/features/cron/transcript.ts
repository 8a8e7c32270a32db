/** Jobs in the transcript: a marker in the timeline for each fire. */
import { eventFields, markerOp } from '#server/transcript/agent-transcript.ts';
import type { RecordMappers } from '#server/transcript/transcript-rows.ts';

export const cronTranscript: RecordMappers = {
  'cron.fired': (agent, record, t) => [markerOp(agent, 'cron.fired', eventFields(record), t)],
};
