/** The open approvals of all agents. */
import type { Approval as WireApproval } from '@service-code/client';
import { textIn } from '../../state/is-object.ts';
import { openRequests } from '../../state/open-requests.ts';
import type { SessionView } from '../../state/session-view.ts';
import { isDisplay } from '../../state/tool-call.ts';

export type Approval = Pick<
  WireApproval,
  'approval_id' | 'session_id' | 'agent_id' | 'tool_call_id' | 'tool_name' | 'action' | 'tool_input_display'
>;

export const openApprovals = (view: Pick<SessionView, 'agents' | 'id'>): Approval[] =>
  openRequests(view, 'approval').flatMap(({ id, agentId, toolCallId = '', request }) => {
    const { display } = request;
    if (!isDisplay(display)) return [];
    return {
      approval_id: id,
      session_id: view.id,
      agent_id: agentId,
      tool_call_id: toolCallId,
      tool_name: textIn(request, 'toolName') ?? '',
      action: textIn(request, 'action') ?? '',
      tool_input_display: display,
    };
  });
