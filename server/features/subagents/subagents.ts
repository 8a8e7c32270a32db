/** Subagents: agents that work on a task for another agent, and report with their last message. */
import type { SessionContext } from '#server/agent/contract/context.ts';
import type { Feature, LiveFeature } from '#server/agent/contract/feature.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { event } from '#server/journal/records.ts';
import type { RunningTask, TaskEnd, WaitingCall } from '#server/tasks/task.ts';
import { failed, ToolInputError, type RunContext, type Tool, type ToolResult } from '#server/tools/tool.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { TaskMembers } from '#schema/events/tasks.ts';
import { allowedProfiles, resumeProblem } from './allowed.ts';
import { foregroundRuns } from './projection.ts';
import { runSubagent, turnSignal, type RunEnd } from './run.ts';
import { subagentTimeoutMs } from './settings.ts';
import { bindSubagent, sameOptions, startModel, startOptions, type StartOptions, type WantedStart } from './start.ts';
import { backgroundText, completedText, failedText, interruptedText, type SubagentIdentity } from './texts.ts';
import { createAgentTool, type AgentRequest } from './tool.ts';
import { subagentsTranscript } from './transcript.ts';
import type { Agent } from '#server/agent/contract/agent.ts';
import type { Profiles } from '#server/agent/contract/profile.ts';

/** The profiles and options that descriptions of subagent tools are rendered from. */
export interface SubagentOffer {
  /** Profiles that the main agent may start. */
  profiles: Profiles;
  options: StartOptions;
}

/** An agent that works for another one: a new one, or with `resume` an existing one. */
export interface ChildRequest {
  purpose: 'task' | 'swarm';
  profile: string;
  resume?: string | undefined;
  start: WantedStart;
  /** Displayed with the id of a new agent. */
  label?: string | undefined;
}

/** The interface by which other features start subagents. */
export interface Subagents extends LiveFeature {
  /** Memoized: the same object until the profiles or options change. */
  offer(): SubagentOffer;
  allowed(callerId: string): Profiles;
  /** Profile of an agent that the caller may resume. Throws `ToolInputError`. */
  resumable(callerId: string, agentId: string): string;
  /** Throws `ToolInputError` when a subagent of the caller cannot start like that. */
  checkStart(callerId: string, start: WantedStart): void;
  /**
   * Runs `work` with the agent, which stays loaded until it settles. The session must be claimed. Throws
   * `persistence.failure`, and an error for a type that no longer exists.
   */
  withChild<T>(request: ChildRequest, callerId: string, work: (child: Agent) => Promise<T>): Promise<T>;
}

function open(session: SessionContext): Subagents {
  const { log, services, agents, tasks } = session;
  /** Agents that a call is about to resume. */
  const resuming = new Set<string>();
  const { lives } = foregroundRuns.of(log.state.features);
  let offered: { all: Profiles; subagents: unknown; offer: SubagentOffer } | undefined;
  let offeredTools: { offer: SubagentOffer; tools: readonly Tool[] } | undefined;

  function offer(): SubagentOffer {
    const all = services.profiles(session);
    const subagents = readContext(log.state.context, MAIN_AGENT).bound?.subagents;
    const options = startOptions(session);
    if (offered?.all !== all || offered.subagents !== subagents || !sameOptions(offered.offer.options, options)) {
      offered = { all, subagents, offer: { profiles: allowed(MAIN_AGENT), options } };
    }
    return offered.offer;
  }

  const allowed = (callerId: string) => allowedProfiles(session, callerId);
  const checkStart = (callerId: string, start: WantedStart) => void startModel(session, callerId, start);

  /** The Agent tool with its current description; the same object until that changes. */
  function tools(): readonly Tool[] {
    const now = offer();
    if (offeredTools?.offer !== now) {
      offeredTools = {
        offer: now,
        tools: [createAgentTool(now.profiles, now.options, { allowed, resumable, checkStart, run })],
      };
    }
    return offeredTools.tools;
  }

  function resumable(callerId: string, agentId: string): string {
    const problem = resuming.has(agentId) ? 'It is being resumed.' : resumeProblem(session, callerId, agentId);
    if (problem !== undefined) throw new ToolInputError(problem);
    return readContext(log.state.context, agentId).bound?.profile ?? '';
  }

  async function run(request: AgentRequest, context: RunContext): Promise<ToolResult> {
    const { resume } = request;
    if (resume === undefined) return runAsTask(request, context);
    // Another call of the same response may already be resuming it.
    resumable(context.agentId, resume);
    resuming.add(resume);
    try {
      return await runAsTask(request, context);
    } finally {
      resuming.delete(resume);
    }
  }

  async function runAsTask(request: AgentRequest, context: RunContext): Promise<ToolResult> {
    const { background, description } = request;
    const { signal, agentId: callerId } = context;
    const caller = agents.find(callerId)?.context;
    if (!caller) throw new Error(`the agent ${callerId} is gone`);
    let identity: SubagentIdentity | undefined;
    let end: RunEnd | undefined;
    let moved: ToolResult | undefined;

    const work = (task: RunningTask) =>
      withChild({ ...request, purpose: 'task' }, callerId, async (child): Promise<TaskEnd> => {
        identity = { agentId: child.id, profile: request.profile };
        begin(request, context, child, task);
        const profile = services.profiles(session).get(request.profile);
        const turns = turnSignal(task.signal, () => signal.reason);
        const run = {
          session,
          caller,
          child,
          name: request.profile,
          profile,
          signal: turns.signal,
          finish: task.finish,
        };
        try {
          const ran = await runSubagent(request.prompt, run);
          ({ end } = ran);
          return ran.taskEnd;
        } finally {
          turns.dispose();
        }
      });

    const waiting: WaitingCall = {
      signal,
      onTimeout: 'stop',
      released({ taskId }) {
        if (!identity) throw new Error(`task ${taskId} has no subagent`);
        moved = { output: backgroundText({ ...identity, taskId, description }, true), truncated: true };
        return context.finish(moved);
      },
    };
    try {
      const released = await tasks.run(
        {
          kind: 'agent',
          agentId: callerId,
          description,
          timeoutMs: subagentTimeoutMs(session.config.effective()),
          ...(background ? {} : { waiting }),
        },
        work,
      );
      if (moved) return moved;
      if (!identity) return failed('The subagent could not be started.');
      const { taskId } = released.info;
      if (released.how === 'background') return { output: backgroundText({ ...identity, taskId, description }, false) };
      return resultOf(
        identity,
        end ?? { status: 'stopped', error: 'It did not end in time and was given up.' },
        released.stop,
      );
    } catch (error) {
      return failed(errorMessage(error) || 'The subagent could not be started.');
    }
  }

  async function withChild<T>(request: ChildRequest, callerId: string, work: (child: Agent) => Promise<T>): Promise<T> {
    const caller = readContext(log.state.context, callerId);
    const permission = caller.config.permission ?? services.defaultPermission();
    if (request.resume !== undefined) {
      return agents.use(request.resume, async (child) => {
        // The agent gets its caller's present permission mode.
        await child.context.config.change({ permission });
        return work(child);
      });
    }
    const { purpose, label } = request;
    const profile = allowed(callerId).get(request.profile);
    if (!profile) throw new Error(`There is no subagent type "${request.profile}" any more.`);
    const { runtimeId } = caller.config;
    return agents.create({ purpose, label, parentAgentId: callerId, permission, runtimeId }, async (child) => {
      await bindSubagent(session, child, { profile, callerId, wanted: request.start });
      return work(child);
    });
  }

  /** Marks the task as started and appends `subagent.spawned` and `subagent.started`. */
  function begin(request: AgentRequest, context: RunContext, child: Agent, task: RunningTask): void {
    const { description, background, profile } = request;
    const { agentId: callerId, toolCallId: parentToolCallId } = context;
    const modelFacts = modelFactsOf(child);
    const members: TaskMembers = {
      kind: 'agent',
      agentId: child.id,
      subagentType: profile,
      parentToolCallId,
      ...modelFacts,
    };
    const spawned = [
      event(callerId, 'subagent.spawned', {
        subagentId: child.id,
        subagentName: profile,
        parentToolCallId,
        parentAgentId: callerId,
        callerAgentId: callerId,
        description,
        runInBackground: background,
        ...modelFacts,
        taskId: task.id,
      }),
      event(callerId, 'subagent.started', { subagentId: child.id }),
    ];
    task.started(() => members, { after: spawned });
    // For a foreground task, `started` records nothing else.
    if (!background) log.append(spawned);
  }

  return {
    offer,
    allowed,
    resumable,
    checkStart,
    withChild,
    tools,
    snapshot() {
      const now = foregroundRuns.of(log.state.features);
      // Runs of an earlier process are not part of the snapshot.
      if (now.lives === lives) return {};
      return { subagents: [...now.runs.values()].map((run) => ({ ...run, session_id: session.id })) };
    },
  };
}

/** Model and effort of the agent, as its spawn record contains them. */
export function modelFactsOf({ context }: Agent): { model?: string; thinkingEffort?: string } {
  const { model, thinkingEffort } = context.state().config;
  return {
    ...(model === undefined ? {} : { model }),
    ...(thinkingEffort === undefined ? {} : { thinkingEffort }),
  };
}

function resultOf(
  identity: SubagentIdentity,
  end: RunEnd,
  stop: { by: string; reason: string } | undefined,
): ToolResult {
  if (end.status === 'completed') return { output: completedText(identity, end.summary) };
  if (stop?.by === 'time') return failed(failedText(identity, `The subagent reached its ${stop.reason}.`, true));
  if (end.status === 'failed') return failed(failedText(identity, end.error, false));
  return failed(interruptedText(identity));
}

export const subagents: Feature<Subagents> = {
  name: 'subagents',
  projection: foregroundRuns,
  transcript: subagentsTranscript,
  open,
};
