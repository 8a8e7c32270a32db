/** How a call that starts a swarm is drawn: its members, each with its state. */
import { textOf, type Args, type DrawnCall, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';
import { isObject } from '../../state/is-object.ts';

export type SwarmBody = {
  kind: 'swarm';
  /** Of members that have begun, in their order. */
  agents: readonly string[];
  /** Of all members, in the order in which they begin. */
  names: readonly string[];
  running: boolean;
};

/** Those that go on come first. */
function namesOf({ items, resume_agent_ids: resumed }: Args): string[] {
  return [
    ...(isObject(resumed) ? Object.keys(resumed).map((id) => `${id} goes on`) : []),
    ...(Array.isArray(items) ? items.map(String) : []),
  ];
}

function swarm(args: Args, { agents = [], output }: DrawnCall): ToolSummary {
  const names = namesOf(args);
  const body: SwarmBody | undefined =
    names.length > 0 ? { kind: 'swarm', agents, names, running: output === undefined } : undefined;
  const drawn = { verb: 'Swarm', subject: textOf(args, 'description'), prose: true as const, body };
  // The card says what the result repeats, once somebody has begun.
  return agents.length > 0 ? { ...drawn, opens: 'while running', output: 'on failure' } : drawn;
}

export const swarmViews: ToolViews = { tools: { AgentSwarm: swarm } };
