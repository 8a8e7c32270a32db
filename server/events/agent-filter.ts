/** The agent filter of a subscription: decides which events of a session are delivered. */
import { MAIN_AGENT } from '#schema/agents.ts';
import { isGlobalEvent } from './frame.ts';

/** Agents whose events are delivered; undefined delivers those of all agents. */
export type AgentFilter = ReadonlySet<string> | undefined;

const unfiltered = new Set(['agent.created', 'agent.disposed', 'event.fs.changed']);

/** Global events and events of an agent's creation and disposal pass every filter; the rest pass by their `agentId`. */
export function passesFilter(frame: { type: string; payload: { agentId?: unknown } }, filter: AgentFilter): boolean {
  if (!filter || unfiltered.has(frame.type) || isGlobalEvent(frame.type)) return true;
  const { agentId } = frame.payload;
  return filter.has(typeof agentId === 'string' ? agentId : MAIN_AGENT);
}
