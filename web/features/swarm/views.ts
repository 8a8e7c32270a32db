/** How a call that starts a swarm is drawn: its members, each with its state. */
import { textOf, type Args, type DrawnCall, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';
import { isObject } from '../../state/is-object.ts';

/** One as the call names it: an agent that goes on, or an item that an agent is to work on. */
export type NamedMember = { agentId: string } | { item: string };

export type SwarmBody = {
  kind: 'swarm';
  /** Of members that have begun, in the order in which they did. */
  agents: readonly string[];
  named: readonly NamedMember[];
  running: boolean;
};

/** Those that go on come first. */
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
  const drawn = { verb: 'Swarm', subject: textOf(args, 'description'), prose: true as const, body };
  // The card says what the result repeats, once somebody has begun.
  return agents.length > 0 ? { ...drawn, opens: 'while running', output: 'on failure' } : drawn;
}

export const swarmViews: ToolViews = { tools: { AgentSwarm: swarm } };
