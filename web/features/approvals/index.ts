import type { Feature } from '../feature.ts';
import ApprovalCards from './ApprovalCards.vue';
import { openApprovals } from './open.ts';

export const approvals: Feature = {
  cards: ApprovalCards,
  pending: (view) =>
    openApprovals(view).map((approval) => ({
      id: approval.approval_id,
      toolCallId: approval.tool_call_id,
      state: 'waits for approval',
      activity: 'Waiting for your approval',
      request: { toolName: approval.tool_name, display: approval.tool_input_display },
    })),
};
