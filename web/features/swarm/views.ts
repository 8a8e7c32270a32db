/** View of a call that starts a swarm: its members with their states. */
import { t } from '../../messages/messages.ts';
import { textOf, type Args, type DrawnCall, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';
import { isObject } from '../../state/is-object.ts';

/** A member as named by the call: an agent to resume, or an item for a new agent. */
export type NamedMember = { agentId: string } | { item: string };

export type SwarmBody = {
  kind: 'swarm';
  /** Ids of started members, in the order of their starts. */
  agents: readonly string[];
  named: readonly NamedMember[];
  running: boolean;
};

/** Resumed members precede new ones. */
function membersIn({ items, resume_agent_ids: resumed }: Args): NamedMember[] {
  return [
    ...(isObject(resumed) ? Object.keys(resumed).map((agentId) => ({ agentId })) : []),
    ...(Array.isArray(items) ? items.map((item) => ({ item: String(item) })) : []),
  ];
}

function swarm(args: Args, { agents = [], output }: DrawnCall): ToolSummary {
  const named = membersIn(args);
  const body: SwarmBody | undefined =
    named.length > 0 ? { kind: 'swarm', agents, named, running: output === undefined } : undefined;
  const drawn = { verb: t('tools.swarm'), subject: textOf(args, 'description'), prose: true as const, body };
  // As soon as a member has started, the card contains the result.
  return agents.length > 0 ? { ...drawn, opens: 'while running', output: 'on failure' } : drawn;
}

export const swarmViews: ToolViews = { tools: { AgentSwarm: swarm } };
