/** The answers to a plan. */
import type { ResolveApproval } from '@service-code/client';

/** `option` is the label of the selected approach, if there are several. */
export const approved = (option: string | undefined): ResolveApproval => ({
  decision: 'approved',
  ...(option !== undefined && { selected_label: option }),
});

/** The agent continues planning. */
export function revised(feedback: string): ResolveApproval {
  const text = feedback.trim();
  return { decision: 'rejected', selected_label: 'Revise', ...(text && { feedback: text }) };
}

/** The turn ends; plan mode stays on. */
export const rejected: ResolveApproval = { decision: 'rejected', selected_label: 'Reject' };

/** The turn ends, and plan mode with it. */
export const rejectedAndLeft: ResolveApproval = { decision: 'rejected', selected_label: 'Reject and Exit' };
