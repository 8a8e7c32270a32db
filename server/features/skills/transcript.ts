/** Skills in the transcript: a marker in the timeline for each activation. */
import { eventFields, markerOp } from '#server/transcript/agent-transcript.ts';
import type { RecordMappers } from '#server/transcript/transcript-rows.ts';

export const skillsTranscript: RecordMappers = {
  'skill.activated': (agent, record, t) => [markerOp(agent, 'skill', eventFields(record), t)],
  'plugin_command.activated': (agent, record, t) => [
    markerOp(agent, 'skill', { ...eventFields(record), variant: 'plugin_command' }, t),
  ],
};
