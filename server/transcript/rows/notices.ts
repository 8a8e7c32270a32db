/** What went wrong, as points in the timeline. */
import { eventFields, markerOp } from '../agent-transcript.ts';
import type { TranscriptRows } from '../transcript-rows.ts';

export const noticeRows: TranscriptRows = {
  error: (agent, record, t) => [
    markerOp(agent, 'notice', { level: 'error', message: record.message, event: eventFields(record) }, t),
  ],
  warning: (agent, record, t) => [
    markerOp(agent, 'notice', { level: 'warning', message: record.message, event: eventFields(record) }, t),
  ],
};
