/** Texts about a subagent that the model receives: that it runs, what it found, why it failed. */

export interface SubagentIdentity {
  agentId: string;
  profile: string;
}

const head = ({ agentId, profile }: SubagentIdentity) => [`agent_id: ${agentId}`, `actual_subagent_type: ${profile}`];

const resumeHint = (agentId: string) =>
  `resume_hint: It keeps its conversation. Call Agent with resume "${agentId}" and a prompt to let it go on.`;

/** The result of a call that waited for the subagent. */
export const completedText = (subagent: SubagentIdentity, summary: string): string =>
  [...head(subagent), 'status: completed', '', '[summary]', summary].join('\n');

export const failedText = (subagent: SubagentIdentity, error: string, resumable: boolean): string =>
  [...head(subagent), 'status: failed', ...(resumable ? [resumeHint(subagent.agentId)] : []), '', error].join('\n');

/** The result of a call that the user interrupted. */
export const interruptedText = (subagent: SubagentIdentity): string =>
  [...head(subagent), 'status: cancelled', '', 'Interrupted by user'].join('\n');

export interface BackgroundSubagent extends SubagentIdentity {
  taskId: string;
  description: string;
}

/** The result of a call that does not wait, or no longer does; clients parse the first line. */
export function backgroundText(subagent: BackgroundSubagent, detached: boolean): string {
  return [
    `task_id: ${subagent.taskId}`,
    'status: running',
    ...head(subagent),
    'automatic_notification: true',
    '',
    `description: ${subagent.description.replace(/\s+/g, ' ')}`,
    '',
    ...(detached ? ['note: The user moved this subagent to the background.'] : []),
    'next_step: Go on with other work; you will be notified when it has ended. Do not wait or poll for it. TaskStop ends it.',
    resumeHint(subagent.agentId),
  ].join('\n');
}

/** Requests more when the last message is too short. */
export const CONTINUATION = `Your last message is all that the agent which gave you the task will see, and it is very short. Write the complete result now:
what you did or found, where, what you checked, and what is left open. Do not begin anything new.`;

/** Precedes the task of a subagent that starts with its caller's conversation. */
export const FORK_NOTICE = `You are a subagent now. What stands above is a copy of the conversation of the agent that started you; it goes on without you and
sees only your last message. Do the task below, and do not go on with anything else from above.`;

export const NO_TEXT = 'The subagent ended without a message.';
export const TRUNCATED =
  '[agent.max_tokens_exceeded] The last message of the subagent was cut off at the limit of its model.';
