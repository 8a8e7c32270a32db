/** Running operations and modes: for session status, snapshot and crash recovery. */
import type { RunningTool } from '#schema/rest/message.ts';
import type { InternalFields, EventRecord } from '../records.ts';
import type { Stored } from '../texts.ts';
import type { Projection } from './projection.ts';

export interface OpenStep {
  step: number;
  stepId: string;
  /** Calls of the response without result, in call order; `started`: `tool.call.started` was written. */
  calls: Map<string, { started: boolean }>;
}

export interface OpenTurn {
  turnId: number;
  /** Time of its `turn.started`, ms. */
  startedAt: number;
  promptId?: string;
  /** Also a failed step that waits for its retry. */
  step?: OpenStep;
}

export interface AgentStatus {
  /** Internal members of its `agent.created`. */
  birth?: EventRecord<'agent.created'>['x'];
  turn?: OpenTurn;
  compaction?: { startedAt: number };
  /** Calls between `tool.call.started` and `tool.result`, in start order. */
  runningTools: Map<string, Stored<RunningTool>>;
}

export interface StatusState {
  /** In the order of creation. */
  agents: Map<string, AgentStatus>;
  /** Spawned and not ended, oldest first, by the child's id; `caller` is the agent that called it. */
  subagents: Map<string, { caller: string }>;
  /** Running user shell commands, oldest first, by command id. */
  shells: Map<string, { agent: string } & InternalFields['shell.begun']>;
  /** Ids of the sessions that this one was copied from, oldest first. */
  ancestors: string[];
}

function agentOf(state: StatusState, agent: string): AgentStatus {
  let own = state.agents.get(agent);
  if (!own) state.agents.set(agent, (own = { runningTools: new Map() }));
  return own;
}

function callStarted(own: AgentStatus, record: EventRecord<'tool.call.started'>): void {
  const { toolCallId, name, args, description, display } = record;
  own.turn?.step?.calls.set(toolCallId, { started: true });
  const tool: Stored<RunningTool> = { tool_call_id: toolCallId, name, args };
  if (description !== undefined) tool.description = description;
  if (display !== undefined) tool.display = display;
  own.runningTools.set(toolCallId, tool);
}

function newTurn({ turnId, promptId }: EventRecord<'turn.started'>, startedAt: number): OpenTurn {
  return promptId === undefined ? { turnId, startedAt } : { turnId, startedAt, promptId };
}

function turnEnded(state: StatusState, record: EventRecord<'turn.ended'>): void {
  const own = agentOf(state, record.agent);
  own.turn = undefined;
  own.runningTools.clear();
}

function endStep(own: AgentStatus): void {
  if (own.turn) own.turn.step = undefined;
}

export const statusProjection: Projection<StatusState> = {
  initial: () => ({
    agents: new Map(),
    subagents: new Map(),
    shells: new Map(),
    ancestors: [],
  }),
  apply(state, record, t) {
    switch (record.type) {
      case 'agent.created': {
        const own = agentOf(state, record.agent);
        if (record.x) own.birth = record.x;
        break;
      }
      case 'turn.started':
        agentOf(state, record.agent).turn = newTurn(record, t);
        break;
      case 'turn.step.started': {
        const { turn } = agentOf(state, record.agent);
        if (turn) turn.step = { step: record.step, stepId: record.stepId, calls: new Map() };
        break;
      }
      case 'step.response': {
        const calls = agentOf(state, record.agent).turn?.step?.calls;
        for (const call of record.calls) calls?.set(call.id, { started: false });
        break;
      }
      case 'tool.call.started':
        callStarted(agentOf(state, record.agent), record);
        break;
      case 'tool.result': {
        const own = agentOf(state, record.agent);
        own.turn?.step?.calls.delete(record.toolCallId);
        own.runningTools.delete(record.toolCallId);
        break;
      }
      case 'turn.step.completed':
      case 'turn.step.interrupted':
        endStep(agentOf(state, record.agent));
        break;
      case 'turn.ended':
        turnEnded(state, record);
        break;
      case 'subagent.spawned':
        state.subagents.set(record.subagentId, { caller: record.agent });
        break;
      case 'subagent.completed':
      case 'subagent.failed':
        state.subagents.delete(record.subagentId);
        break;
      case 'shell.begun':
        state.shells.set(record.commandId, record);
        break;
      case 'shell.ended':
        state.shells.delete(record.commandId);
        break;
      case 'compaction.started':
        agentOf(state, record.agent).compaction = { startedAt: t };
        break;
      case 'compaction.completed':
      case 'compaction.cancelled':
        delete agentOf(state, record.agent).compaction;
        break;
      case 'forked':
        state.ancestors.push(record.source);
        break;
    }
  },
};
