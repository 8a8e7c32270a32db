/** Rows of errors and warnings: markers in the timeline. */
import type { EventRecord } from '#server/journal/records.ts';
import { iso } from '#schema/scalars.ts';
import { SETTINGS_CHANGED } from '#schema/rest/settings-change.ts';
import { eventFields, markerOp, type AgentTranscript } from '../agent-transcript.ts';
import type { StoredOp } from '../reducer/state.ts';
import type { RecordMappers } from '../transcript-rows.ts';

/** Most settings changes in a transcript. */
const MOST_CHANGES = 50;

/** In addition to the marker, which an undo removes and pages of newer turns do not contain. */
function settingsChanged({ state }: AgentTranscript, message: string, t: number): StoredOp {
  const known = state.meta.settingsChanges ?? [];
  const id = String(Number(known.at(-1)?.id ?? 0) + 1);
  return { op: 'meta.merge', meta: { settingsChanges: [...known, { id, message, at: iso(t) }].slice(-MOST_CHANGES) } };
}

function warned(agent: AgentTranscript, record: EventRecord<'warning'>, t: number): StoredOp[] {
  const { message, code } = record;
  return [
    markerOp(agent, 'notice', { level: 'warning', message, event: eventFields(record) }, t),
    ...(code === SETTINGS_CHANGED ? [settingsChanged(agent, message, t)] : []),
  ];
}

export const noticeRows: RecordMappers = {
  error: (agent, record, t) => [
    markerOp(agent, 'notice', { level: 'error', message: record.message, event: eventFields(record) }, t),
  ],
  warning: warned,
};
