/** Compactions in the transcript: a point in the timeline for each of their events. */
import { agentMeta, eventFields, markerOp, type AgentTranscript } from '#server/transcript/agent-transcript.ts';
import type { RecordMappers } from '#server/transcript/transcript-rows.ts';
import type { EventRecord } from '#server/journal/records.ts';

const marker = (agent: AgentTranscript, phase: string, record: EventRecord, t: number, more: { text?: string } = {}) =>
  markerOp(agent, 'compaction', { phase, ...eventFields(record), ...more }, t);

export const compactionTranscript: RecordMappers = {
  'compaction.started': (agent, record, t) => [marker(agent, 'started', record, t)],
  'compaction.blocked': (agent, record, t) => [marker(agent, 'blocked', record, t)],
  'compaction.cancelled': (agent, record, t) => [marker(agent, 'cancelled', record, t)],
  'compaction.completed': (agent, record, t) => [
    ...agentMeta(agent, { contextTokens: record.result.tokensAfter }),
    marker(agent, 'completed', record, t, { text: record.result.summary }),
  ],
};
