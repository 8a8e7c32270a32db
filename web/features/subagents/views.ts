/** View of a call that starts a subagent: its prompt and its conversation. */
import { t } from '../../messages/messages.ts';
import { textOf, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';

export type TaskBody = { kind: 'task'; text: string; agents: readonly string[] };

function summary(subject: string, text: string, agents: readonly string[] = []): ToolSummary {
  const body: TaskBody = { kind: 'task', text, agents };
  const drawn = {
    verb: t('tools.agent'),
    subject,
    prose: true as const,
    body: text || agents.length ? body : undefined,
  };
  // The conversation already contains the result.
  return agents.length ? { ...drawn, output: 'on failure' } : drawn;
}

export const subagentViews: ToolViews = {
  tools: {
    Agent: (args, { agents }) =>
      summary(textOf(args, 'description') || textOf(args, 'subagent_type'), textOf(args, 'prompt'), agents),
  },
  displays: {
    agent_call: ({ agent_name, prompt }) => summary(agent_name, prompt),
  },
};
