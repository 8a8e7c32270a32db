/** Rows of approvals. */
import type { EventRecord } from '#server/journal/records.ts';
import type { AgentTranscript } from '../agent-transcript.ts';
import { answeredOps, askedOps } from '../interactions.ts';
import type { RecordMappers } from '../transcript-rows.ts';
import type { StoredOp } from '../reducer/state.ts';

function requested(agent: AgentTranscript, record: EventRecord<'event.approval.requested'>): StoredOp[] {
  const { approval_id, turn_id, tool_call_id, tool_name, action, tool_input_display } = record;
  const request = {
    id: approval_id,
    sessionId: agent.sessionId,
    agentId: agent.id,
    ...(turn_id === undefined ? {} : { turnId: turn_id }),
    toolCallId: tool_call_id,
    toolName: tool_name,
    action,
    display: tool_input_display,
  };
  return askedOps(agent, { interactionId: approval_id, interactionKind: 'approval', request }, tool_call_id);
}

function resolved(agent: AgentTranscript, record: EventRecord<'event.approval.resolved'>): StoredOp[] {
  const { approval_id, decision, scope, feedback, selected_label, x } = record;
  const response = {
    decision,
    ...(scope === undefined ? {} : { scope }),
    ...(feedback === undefined ? {} : { feedback }),
    ...(selected_label === undefined ? {} : { selectedLabel: selected_label }),
  };
  // An approval that ended with its server has no response.
  return answeredOps(agent, approval_id, decision, x?.cause === 'server_stopped' ? {} : { response }, x?.by);
}

export const approvalRows: RecordMappers = {
  'event.approval.requested': requested,
  'event.approval.resolved': resolved,
};
