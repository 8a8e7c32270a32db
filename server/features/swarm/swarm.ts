/**
 * Swarm mode, and the tool that runs the same task for many items, with one subagent per item. Users switch the mode on
 * to request that; a call of the tool switches it on until its turn ends.
 */
import type { AgentContext, SessionContext } from '#server/agent/contract/context.ts';
import type { Feature, GuardedCall, LiveFeature } from '#server/agent/contract/feature.ts';
import { internal } from '#server/journal/records.ts';
import type { RunContext, Tool, ToolResult } from '#server/tools/tool.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { subagents, type SubagentOffer } from '../subagents/subagents.ts';
import { endsWithTurn, swarmModes, swarmTrigger } from './projection.ts';
import { swarmReminders, withoutTrailingReminder } from './reminders.ts';
import { swarmResult } from './result.ts';
import { runSwarm } from './run.ts';
import { swarmConcurrency } from './settings.ts';
import { AGENT_SWARM, createSwarmTool, type SwarmRequest } from './tool.ts';
import { swarmTranscript } from './transcript.ts';

const ALONE = `${AGENT_SWARM} must be the only call of its response, so none of these calls was run. Call it alone, or make the other calls without it.`;

function open(session: SessionContext): LiveFeature {
  const { log, agents, config } = session;
  const trigger = (agentId: string) => swarmTrigger(log.state.features, agentId);
  const concurrency = () => swarmConcurrency(config.effective());
  let offeredTools: { offer: SubagentOffer; tools: readonly Tool[] } | undefined;

  async function run(request: SwarmRequest, context: RunContext): Promise<ToolResult> {
    const { agentId, toolCallId, signal } = context;
    const caller = agents.find(agentId)?.context;
    if (!caller) throw new Error(`the agent ${agentId} is gone`);
    if (!trigger(agentId)) {
      log.append([internal(agentId, 'swarm.entered', { trigger: 'tool' })]);
      caller.publishStatus({ swarmMode: true });
    }
    const { members, ...how } = request;
    const deps = { ...how, session, subagents: session.feature(subagents), caller, toolCallId, signal };
    const ends = await runSwarm(members, deps);
    return { output: swarmResult(members, ends), ...(signal.aborted ? { isError: true } : {}) };
  }

  const refused = ({ environment }: AgentContext, { batch }: GuardedCall) =>
    batch.length > 1 && batch.some(({ name }) => name === AGENT_SWARM) && environment().activeTools.has(AGENT_SWARM);

  return {
    tools() {
      const live = session.feature(subagents);
      const offer = live.offer();
      if (offeredTools?.offer !== offer) {
        const { allowed, resumable, checkStart } = live;
        offeredTools = {
          offer,
          tools: [createSwarmTool(offer, { allowed, resumable, checkStart, concurrency, run })],
        };
      }
      return offeredTools.tools;
    },

    beforeToolCall: (agent, call) => (refused(agent, call) ? ALONE : undefined),

    reminders: ({ id, state }) => (id === MAIN_AGENT ? swarmReminders(state(), trigger(id)) : []),

    statusFields: ({ id }) => (trigger(id) ? { swarmMode: true } : {}),

    async configure(agent, { swarm_mode: wanted }) {
      const { id } = agent;
      if (wanted === undefined || wanted === (trigger(id) !== undefined)) return;
      await log.claim();
      agent.config.create();
      if (wanted === (trigger(id) !== undefined)) return;
      if (wanted) log.append([internal(id, 'swarm.entered', { trigger: 'manual' })]);
      else {
        const quiet = !log.state.activity.turns.has(id);
        log.append([internal(id, 'swarm.left', {}), ...(quiet ? withoutTrailingReminder(id, agent.state()) : [])]);
      }
      agent.publishStatus({ swarmMode: wanted });
    },

    onTurnEnd({ id }) {
      if (!endsWithTurn(trigger(id))) return {};
      return { before: [internal(id, 'swarm.left', {})], facts: { swarmMode: false } };
    },
  };
}

export const swarm: Feature = {
  name: 'swarm',
  projection: swarmModes,
  transcript: swarmTranscript,
  status: ({ features }) => ({ swarm_mode: swarmTrigger(features, MAIN_AGENT) !== undefined }),
  open,
};
