import { defineAsyncComponent } from 'vue';
import { t } from '../../messages/messages.ts';
import type { Feature } from '../feature.ts';
import { isAnsweredElsewhere } from './answer.ts';
import { answerCommands } from './keys.ts';
import { openApprovals } from './open.ts';

const ApprovalCards = defineAsyncComponent(() => import('./ApprovalCards.vue'));

export const approvals: Feature = {
  cards: ApprovalCards,
  commands: answerCommands,
  pending: (view) =>
    openApprovals(view)
      .filter((approval) => !isAnsweredElsewhere(approval))
      .map((approval) => ({
        id: approval.approval_id,
        agentId: approval.agent_id,
        toolCallId: approval.tool_call_id,
        state: t('list.waitsForApproval'),
        activity: t('activity.approval'),
        request: { toolName: approval.tool_name, display: approval.tool_input_display },
      })),
};
