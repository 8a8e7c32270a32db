import { partOf } from '../../state/view-part.ts';
import type { Feature } from '../feature.ts';
import ApprovalCards from './ApprovalCards.vue';
import { approvalsPart } from './part.ts';

export const approvals: Feature = {
  part: approvalsPart,
  cards: ApprovalCards,
  pending: (view) =>
    partOf(view, approvalsPart).map((approval) => ({
      toolCallId: approval.tool_call_id,
      state: 'waits for approval',
      activity: 'Waiting for your approval',
      request: { toolName: approval.tool_name, display: approval.tool_input_display },
    })),
};
