/**
 * Crash recovery: the records that close what an exited process left open. Pure: it depends only on the fold and on the
 * tasks that still run, and all its times are the time of the last line. A settled journal needs no records.
 */
import { MAIN_AGENT } from '#schema/agents.ts';
import type { TaskInfo } from '#schema/events/tasks.ts';
import { iso, type TurnOutcome } from '#schema/scalars.ts';
import type { LogState } from './fold.ts';
import { placeSplices } from './context-size.ts';
import { isBusy, mainTurnActive, pendingInteraction, type WorkStatus } from './projections/activity.ts';
import type { AgentStatus } from './projections/status.ts';
import { runningTasks, type KnownTask } from './projections/tasks.ts';
import { entering, event, internal, unsent, type CompleteDraft, type Draft } from './records.ts';
import { taskNotice, unreportedTasks } from './task-notices.ts';

/** Result of a call of which the server recorded no result. */
export const INTERRUPTED_RESULT =
  'The tool call was interrupted before its result was recorded. Do not assume that it succeeded.';
const SERVER_STOPPED = 'server stopped';

const NONE: ReadonlySet<string> = new Set();

/**
 * Returns the drafts to append; empty when nothing is open. Drafts marked `unsent` emit no event. `surviving` are the
 * tasks whose process still runs (`survivingTasks`); the notices to their agents mention that.
 */
export function settleCrash(state: LogState, surviving = NONE): CompleteDraft[] {
  const { status } = state;
  const drafts: Draft[] = [];

  const agents = [...new Set([...state.context.agents.keys(), ...state.prompts.keys(), ...status.agents.keys()])];
  const order = creationOrder([...status.agents.keys()], agents);
  for (const agent of order) drafts.push(...settleAgent(state, agent));
  const running = runningTasks(state.tasks);
  for (const task of running) drafts.push(...settleTask(state, task, surviving.has(task.info.taskId)));
  for (const agent of order) for (const task of unreportedTasks(state, agent)) drafts.push(...noticeDrafts(task));
  for (const { agent, commandId, taskId } of status.shells.values()) {
    drafts.push(internal(agent, 'shell.ended', { commandId, taskId, isError: true, outputTail: '' }));
  }
  for (const projection of state.features.projections) {
    drafts.push(...projection.settle(state.features, state.lastTime));
  }
  const work = idleWork(state);
  if (work) drafts.push(event(MAIN_AGENT, 'event.session.work_changed', work));
  return placeSplices(state, drafts);
}

/** Whether nothing is open and no feature has records for a copy: a copy then needs only those of its creation. */
export function isSettled(state: LogState): boolean {
  const { features } = state;
  if (isBusy(state.activity) || settleCrash(state).length > 0) return false;
  return features.projections.every((projection) => projection.copied(features).length === 0);
}

/** Newest agent first, main last. */
function creationOrder(created: string[], all: string[]): string[] {
  const known = [...created, ...all.filter((agent) => !created.includes(agent))];
  return [...known.filter((agent) => agent !== MAIN_AGENT).toReversed(), MAIN_AGENT];
}

function settleAgent(state: LogState, agent: string): Draft[] {
  const { status, interactions, features, lastTime } = state;
  const own = status.agents.get(agent);
  const at = iso(lastTime);
  const drafts: Draft[] = settleSubagents(state, agent);

  drafts.push(...settleCalls(agent, own));
  for (const [approval_id, pending] of interactions.approvals) {
    if (pending.agent !== agent) continue;
    const resolved = { approval_id, decision: 'cancelled' as const, resolved_at: at };
    drafts.push(event(agent, 'event.approval.resolved', resolved, { cause: 'server_stopped' }));
  }
  for (const [question_id, pending] of interactions.questions) {
    if (pending.agent === agent && pending.taskId === undefined) drafts.push(dismissed(agent, question_id, at));
  }
  if (own?.compaction) drafts.push(event(agent, 'compaction.cancelled', {}, { cause: 'server_stopped' }));
  const turn = own?.turn;
  if (turn?.step) {
    const { step, stepId } = turn.step;
    const { turnId } = turn;
    drafts.push(
      event(agent, 'turn.step.interrupted', { turnId, step, stepId, reason: 'aborted', message: SERVER_STOPPED }),
    );
  }
  if (turn) {
    for (const projection of features.projections) drafts.push(...projection.settleTurn(features, agent));
    const durationMs = lastTime - turn.startedAt;
    const ended = {
      turnId: turn.turnId,
      reason: 'cancelled' as const,
      durationMs,
      interruptReason: 'aborted' as const,
    };
    drafts.push(event(agent, 'turn.ended', ended, { cause: 'server_stopped' }));
  }
  for (const message of state.prompts.get(agent)?.entering ?? []) {
    const reminds = message.origin?.kind === 'injection';
    drafts.push(entering(agent, [message], reminds ? { cause: 'reminder' } : { cause: 'input', enters: 'step' }));
  }
  for (const promptId of openPrompts(state, agent)) {
    drafts.push(event(agent, 'prompt.aborted', { promptId, abortedAt: at }));
  }
  return drafts;
}

function settleSubagents({ status, tasks }: LogState, caller: string): Draft[] {
  const detached = new Set(runningTasks(tasks).map(({ info }) => (info.kind === 'agent' ? info.agentId : undefined)));
  return [...status.subagents]
    .filter(([id, subagent]) => subagent.caller === caller && !detached.has(id))
    .toReversed()
    .map(([id]) => subagentFailed(caller, id));
}

function subagentFailed(caller: string, subagentId: string): Draft {
  return event(caller, 'subagent.failed', { subagentId, error: SERVER_STOPPED }, { aborted: true });
}

function settleCalls(agent: string, own: AgentStatus | undefined): Draft[] {
  const turn = own?.turn;
  if (!turn?.step) return [];
  return [...turn.step.calls].map(([toolCallId, { started }]) => {
    const { turnId } = turn;
    const draft = event(agent, 'tool.result', {
      turnId,
      toolCallId,
      output: INTERRUPTED_RESULT,
      isError: true,
      synthetic: true,
    });
    return started ? draft : unsent(draft);
  });
}

function dismissed(agent: string, question_id: string, dismissed_at: string): Draft {
  return event(agent, 'event.question.dismissed', { question_id, dismissed_at }, { cause: 'server_stopped' });
}

/** The turn's prompt, then the waiting ones in queue order; steered ones settle with the first. */
function openPrompts(state: LogState, agent: string): string[] {
  const own = state.prompts.get(agent);
  if (!own) return [];
  const waiting = [...own.open.values()].filter((prompt) => prompt.state === 'accepted' || prompt.state === 'queued');
  return [...(own.active === undefined ? [] : [own.active]), ...waiting.map((prompt) => prompt.promptId)];
}

function settleTask(state: LogState, task: KnownTask, survives: boolean): Draft[] {
  const { status, interactions, lastTime } = state;
  const { agent, info } = task;
  const drafts: Draft[] = [];
  for (const [questionId, pending] of interactions.questions) {
    if (pending.taskId === info.taskId) drafts.push(dismissed(pending.agent, questionId, iso(lastTime)));
  }
  const child = info.kind === 'agent' ? info.agentId : undefined;
  const caller = child === undefined ? undefined : status.subagents.get(child)?.caller;
  if (child !== undefined && caller !== undefined) drafts.push(subagentFailed(caller, child));
  const lost: TaskInfo = { ...info, status: 'lost', endedAt: lastTime };
  drafts.push(
    event(agent, 'task.terminated', { info: lost }, { outputTail: '' }),
    event(agent, 'background.task.terminated', { info: lost }),
  );
  if (info.terminalNotificationSuppressed) return drafts;
  return [...drafts, ...noticeDrafts({ ...task, info: lost, outputTail: '' }, survives)];
}

/** Notifies the agent of an ended task, without starting a turn. */
function noticeDrafts(task: KnownTask, survives = false): Draft[] {
  const { record, message } = taskNotice(task, survives);
  return [record, entering(task.agent, [message], { cause: 'input' })];
}

/** The idle activity to publish, if clients still have the session as running or waiting. */
function idleWork({ activity }: LogState): WorkStatus | undefined {
  const { lastPublished } = activity;
  if (!lastPublished) return undefined;
  const outcome: TurnOutcome | undefined = mainTurnActive(activity) ? 'cancelled' : activity.outcome;
  const open = isBusy(activity) || pendingInteraction(activity) !== 'none';
  const idle = !lastPublished.busy && !lastPublished.main_turn_active && lastPublished.pending_interaction === 'none';
  // If an idle session's outcome was reverted on unload, clients keep the last published one.
  if (idle && (!open || lastPublished.last_turn_reason === outcome)) return undefined;
  return {
    busy: false,
    main_turn_active: false,
    pending_interaction: 'none',
    ...(outcome === undefined ? {} : { last_turn_reason: outcome }),
  };
}
