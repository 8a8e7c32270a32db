/** Approvals as requests of permission. */
import type { PermissionOption, PermissionOptionKind, ToolCallUpdate } from '@agentclientprotocol/sdk';
import { MAIN_AGENT, type Approval, type ResolveApproval } from '@service-code/client';
import { visibleLine, visibleText } from '@service-code/client/text';
import { fence } from './fence.ts';
import { callView } from './tool-calls.ts';

/** An option that the editor offers, and the answer that it represents. */
export interface Choice {
  option: PermissionOption;
  answer: ResolveApproval;
}

const choice = (optionId: string, name: string, kind: PermissionOptionKind, answer: ResolveApproval): Choice => ({
  option: { optionId, name, kind },
  answer,
});

/** The options of an approval: those of the plan by their labels, otherwise once, for the session, or rejected. */
export function choicesOf({ tool_input_display: display }: Approval): Choice[] {
  if (display.kind === 'plan_review') return planChoices(display.options ?? []);
  const once = choice('allow_once', 'Allow once', 'allow_once', { decision: 'approved' });
  const rejected = choice('reject_once', 'Reject', 'reject_once', { decision: 'rejected' });
  if (display.kind === 'goal_start') return [once, rejected];
  const session = { decision: 'approved', scope: 'session' } as const;
  return [once, choice('allow_session', 'Allow for this session', 'allow_always', session), rejected];
}

function planChoices(options: readonly { label: string }[]): Choice[] {
  const approaches = options.map(({ label }, index) =>
    choice(`approve_${index}`, label, 'allow_once', { decision: 'approved', selected_label: label }),
  );
  return [
    ...(approaches.length > 0 ? approaches : [choice('approve', 'Approve', 'allow_once', { decision: 'approved' })]),
    ...(['Revise', 'Reject', 'Reject and Exit'] as const).map((label, index) =>
      choice(`reject_${index}`, label, 'reject_once', { decision: 'rejected', selected_label: label }),
    ),
  ];
}

/** Calls of other agents have ids of their own, because those of two agents may be equal. */
export const callId = (agentId: string, toolCallId: string): string =>
  agentId === MAIN_AGENT ? toolCallId : `${agentId}:${toolCallId}`;

/** The call that waits for the approval, with everything that is to be approved, hidden characters made visible. */
export function requestedCall(approval: Approval, cwd: string): ToolCallUpdate {
  const { agent_id, tool_call_id, tool_name: name, tool_input_display: display } = approval;
  const frame = { kind: 'tool', frameId: '', toolCallId: tool_call_id, name, state: 'running', display } as const;
  const view = callView(frame, { cwd });
  const text = approvedText(display);
  return {
    toolCallId: callId(agent_id, tool_call_id),
    ...view,
    title: visibleLine(display.kind === 'generic' ? approval.action : view.title),
    ...(text !== undefined && { content: [{ type: 'content', content: { type: 'text', text } }] }),
  };
}

/** Text that the title may not have in full. */
function approvedText(display: Approval['tool_input_display']): string | undefined {
  switch (display.kind) {
    case 'command':
      return fence(visibleText(display.command), 'sh');
    case 'url_fetch':
      return visibleText(display.url);
    case 'goal_start': {
      const { objective, completionCriterion: criterion } = display;
      return visibleText(criterion === undefined ? objective : `${objective}\n\nReached when: ${criterion}`);
    }
    case 'plan_review':
      return visibleText(display.plan);
    case 'agent_call':
      return fence(visibleText(display.prompt));
    case 'skill_call':
      return display.args === undefined ? undefined : fence(visibleText(display.args));
    case 'generic':
      return display.detail === undefined
        ? undefined
        : fence(visibleText(JSON.stringify(display.detail, null, 2)), 'json');
    default:
      return undefined;
  }
}
