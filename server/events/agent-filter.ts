/** Which events of a session pass a subscription's agent filter. */
import { MAIN_AGENT } from '#schema/agents.ts';
import { isGlobalEvent } from './frame.ts';

/** Agents whose events are wanted; undefined means all. */
export type AgentFilter = ReadonlySet<string> | undefined;

const unfiltered = new Set(['agent.created', 'agent.disposed', 'event.fs.changed']);

/** Global events and the births and ends of agents pass every filter; the rest passes by its payload's `agentId`. */
export function passesFilter(frame: { type: string; payload: { agentId?: unknown } }, filter: AgentFilter): boolean {
  if (!filter || unfiltered.has(frame.type) || isGlobalEvent(frame.type)) return true;
  const { agentId } = frame.payload;
  return filter.has(typeof agentId === 'string' ? agentId : MAIN_AGENT);
}
