/** Which profiles an agent may start as subagents, and which subagents it may resume. */
import type { SessionContext } from '#server/agent/contract/context.ts';
import { mainProfile } from '#server/agent/profiles/built-in.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Profile, Profiles } from '#server/agent/contract/profile.ts';

const DELEGATING = ['Agent', 'AgentSwarm'];

const delegates = ({ tools, disallowedTools = [] }: Profile) =>
  DELEGATING.some((name) => (tools === '*' || tools.includes(name)) && !disallowedTools.includes(name));

/** The allowed profiles by name, in their order. Profiles that start agents themselves must be listed by name. */
export function allowedProfiles(session: SessionContext, callerId: string): Profiles {
  const { bound } = readContext(session.log.state.context, callerId);
  const declared = bound?.subagents ?? mainProfile.subagents ?? [];
  const may = (profile: Profile) => {
    if (declared !== '*' && declared.includes(profile.name)) return true;
    return !delegates(profile) && (declared === '*' || (callerId === MAIN_AGENT && profile.discovered === true));
  };
  return new Map([...session.services.profiles(session)].filter(([, profile]) => may(profile)));
}

/** The reason why the caller cannot resume this agent; undefined if it can. */
export function resumeProblem({ log }: SessionContext, callerId: string, agentId: string): string | undefined {
  const { status, activity } = log.state;
  const birth = status.agents.get(agentId)?.birth;
  const isSubagent = birth?.purpose === 'task' || birth?.purpose === 'swarm';
  if (!isSubagent || birth.parentAgentId !== callerId) {
    return `There is no subagent "${agentId}" of yours.`;
  }
  if (status.subagents.has(agentId) || activity.turns.has(agentId)) {
    return `The subagent "${agentId}" is still running. Wait for it to end before you resume it.`;
  }
  if (!readContext(log.state.context, agentId).bound) {
    return `The subagent "${agentId}" never began. Start a new one.`;
  }
  return undefined;
}
