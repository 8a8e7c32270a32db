/** What runs, what waits and what is set (records.md §3.4): session status, snapshot, and what settling closes. */
import type { Approval, Question } from '#schema/interaction.ts';
import type { RunningTool } from '#schema/message.ts';
import type { Goal } from '#schema/events/modes.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';
import type { PendingInteraction, TurnOutcome } from '#schema/scalars.ts';
import { derive } from '../deferred.ts';
import type { DurableFields } from '#schema/events/catalogue.ts';
import type { InternalFields, EventRecord, SwarmTrigger } from '../records.ts';
import type { Projection } from './projection.ts';

export interface OpenStep {
  step: number;
  stepId: string;
  /** Calls of the response without result, in call order; whether `tool.call.started` was written. */
  calls: Map<string, { started: boolean }>;
}

export interface OpenTurn {
  turnId: number;
  /** Time of its `turn.started`, ms. */
  startedAt: number;
  promptId?: string;
  /** Also a failed one that waits for its retry. */
  step?: OpenStep;
}

export interface AgentStatus {
  turn?: OpenTurn;
  compaction?: { startedAt: number };
  plan: boolean;
  swarm?: SwarmTrigger;
  /** Calls between `tool.call.started` and `tool.result`, in start order. */
  runningTools: Map<string, RunningTool>;
}

export interface PendingApproval {
  agent: string;
  approval: Approval;
}

export interface PendingQuestion {
  agent: string;
  question: Question;
  /** Of a background question, which outlives its turn. */
  taskId?: string;
}

export type WorkChanged = DurableFields<'event.session.work_changed'>;

export interface StatusState {
  /** In the order of creation. */
  agents: Map<string, AgentStatus>;
  /** Oldest first, by id; so are the following. */
  approvals: Map<string, PendingApproval>;
  questions: Map<string, PendingQuestion>;
  /** Running background tasks. */
  tasks: Map<string, { agent: string; info: TaskInfo }>;
  /** Spawned and not ended, by the child's id, with the agent that called it. */
  subagents: Map<string, { caller: string }>;
  /** Running user shell commands, by command id. */
  shells: Map<string, { agent: string } & InternalFields['shell.begun']>;
  /** Main's last turn end, absent while its turn runs. */
  outcome: TurnOutcome | undefined;
  /** What clients were told last. */
  work: WorkChanged | undefined;
  goal: Goal | undefined;
}

const MAIN = 'main';

/** Whether any turn, background task or compaction runs (core.md §5.1). */
export function isBusy(state: StatusState): boolean {
  if (state.tasks.size > 0) return true;
  for (const agent of state.agents.values()) if (agent.turn || agent.compaction) return true;
  return false;
}

export function mainTurnActive(state: StatusState): boolean {
  return state.agents.get(MAIN)?.turn !== undefined;
}

/** Of any agent; an approval wins over a question. */
export function pendingInteraction(state: StatusState): PendingInteraction {
  if (state.approvals.size > 0) return 'approval';
  return state.questions.size > 0 ? 'question' : 'none';
}

function agentOf(state: StatusState, agent: string): AgentStatus {
  const own = state.agents.get(agent) ?? { plan: false, runningTools: new Map() };
  state.agents.set(agent, own);
  return own;
}

function callStarted(own: AgentStatus, record: EventRecord<'tool.call.started'>): void {
  const { toolCallId, name, description, display } = record;
  own.turn?.step?.calls.set(toolCallId, { started: true });
  const tool: RunningTool = { tool_call_id: toolCallId, name };
  derive(tool, 'args', record, 'args');
  if (description !== undefined) derive(tool, 'description', record, 'description');
  own.runningTools.set(toolCallId, display === undefined ? tool : Object.assign(tool, { display }));
}

function turnEnded(state: StatusState, record: EventRecord<'turn.ended'>): void {
  const own = agentOf(state, record.agent);
  delete own.turn;
  own.runningTools.clear();
  if (record.agent === MAIN) state.outcome = record.reason === 'blocked' ? 'failed' : record.reason;
}

function endStep(own: AgentStatus): void {
  if (own.turn) delete own.turn.step;
}

export const statusProjection: Projection<StatusState> = {
  initial: () => ({
    agents: new Map(),
    approvals: new Map(),
    questions: new Map(),
    tasks: new Map(),
    subagents: new Map(),
    shells: new Map(),
    outcome: undefined,
    work: undefined,
    goal: undefined,
  }),
  apply(state, record, t) {
    switch (record.type) {
      case 'agent.created':
        agentOf(state, record.agent);
        break;
      case 'turn.started':
        agentOf(state, record.agent).turn = {
          turnId: record.turnId,
          startedAt: t,
          ...(record.promptId === undefined ? {} : { promptId: record.promptId }),
        };
        if (record.agent === MAIN) state.outcome = undefined;
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
      case 'event.approval.requested': {
        const { seq: _seq, agent, type: _type, x: _x, ...approval } = record;
        state.approvals.set(approval.approval_id, { agent, approval });
        break;
      }
      case 'event.approval.resolved':
        state.approvals.delete(record.approval_id);
        break;
      case 'event.question.requested': {
        const { seq: _seq, agent, type: _type, x, ...question } = record;
        const taskId = x?.taskId === undefined ? {} : { taskId: x.taskId };
        state.questions.set(question.question_id, { agent, question, ...taskId });
        break;
      }
      case 'event.question.answered':
      case 'event.question.dismissed':
        state.questions.delete(record.question_id);
        break;
      case 'task.started':
        state.tasks.set(record.info.taskId, { agent: record.agent, info: record.info });
        break;
      case 'task.terminated':
        state.tasks.delete(record.info.taskId);
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
      case 'plan.entered':
        agentOf(state, record.agent).plan = true;
        break;
      case 'plan.left':
        agentOf(state, record.agent).plan = false;
        break;
      case 'swarm.entered':
        agentOf(state, record.agent).swarm = record.trigger;
        break;
      case 'swarm.left':
        delete agentOf(state, record.agent).swarm;
        break;
      case 'goal.updated':
        state.goal = record.snapshot ?? undefined;
        break;
      case 'event.session.work_changed': {
        const { seq: _seq, agent: _agent, type: _type, x: _x, ...work } = record;
        state.work = work;
        break;
      }
      case 'forked':
        // What runs is closed by the settling records behind it (records.md §4.3); nobody was told anything yet.
        state.work = undefined;
        state.goal = undefined;
        break;
    }
  },
};
