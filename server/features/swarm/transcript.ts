/** Swarm mode in the transcript; only that of the main agent is displayed as a mode. Members are rows of subagents. */
import { markerOp, type AgentTranscript } from '#server/transcript/agent-transcript.ts';
import type { StoredOp } from '#server/transcript/reducer/state.ts';
import type { RecordMappers } from '#server/transcript/transcript-rows.ts';
import { MAIN_AGENT } from '#schema/agents.ts';

const setSwarm = ({ id }: AgentTranscript, swarm: { trigger: string } | null): StoredOp[] =>
  id === MAIN_AGENT ? [{ op: 'meta.merge', meta: { modes: { swarm } } }] : [];

export const swarmTranscript: RecordMappers = {
  'swarm.entered': (agent, { trigger }, t) => [
    ...setSwarm(agent, { trigger }),
    markerOp(agent, 'swarm.enter', { agentId: agent.id, trigger }, t),
  ],
  'swarm.left': (agent, _record, t) => [
    ...setSwarm(agent, null),
    markerOp(agent, 'swarm.exit', { agentId: agent.id }, t),
  ],
};
