/** How a call that starts a subagent is drawn. */
import { textOf, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';

function summary(subject: string, prompt: string): ToolSummary {
  const body = prompt ? { kind: 'task', text: prompt } : undefined;
  return { verb: 'Agent', subject, prose: true, body };
}

export const subagentViews: ToolViews = {
  tools: {
    Agent: (args) => summary(textOf(args, 'description') || textOf(args, 'subagent_type'), textOf(args, 'prompt')),
  },
  displays: {
    agent_call: ({ agent_name, prompt }) => summary(agent_name, prompt),
  },
};
