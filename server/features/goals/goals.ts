/**
 * The goal of a session: its main agent works on it turn after turn until it is reached, stopped or out of budget. The
 * goal and its usage are folded from the journal; a goal does not stay active without a process that works on it.
 */
import type { AgentContext, SessionContext } from '#server/agent/contract/context.ts';
import type { Feature, LiveFeature, StepHead, TurnEnding } from '#server/agent/contract/feature.ts';
import type { LogState } from '#server/journal/fold.ts';
import { beginsAnew } from '#server/journal/projections/context.ts';
import type { Draft } from '#server/journal/records.ts';
import type { Tool } from '#server/tools/tool.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { ContextMessage } from '#schema/engine.ts';
import type { Goal } from '#schema/events/modes.ts';
import type { TurnOutcome } from '#schema/scalars.ts';
import { controlGoal, setGoal } from './control.ts';
import { withUsage } from './goal.ts';
import { INTERRUPTED, pauseReason } from './pause-reason.ts';
import { drivenTurn, foldedWith, goalAt, goalProjection, type GoalState } from './projection.ts';
import { counted, moved } from './records.ts';
import { BUDGET_VETO, budgetStop, goalReminder } from './reminders.ts';
import { createGoalActions } from './tool-actions.ts';
import { createGoalTools } from './tools.ts';
import { goalTranscript } from './transcript.ts';
import { blocked, createGoalWork, pendingCancelReminder, pendingCancelDrafts } from './work.ts';

/** The goal as clients read it; `now` in ms. */
export const goalOf = (state: LogState, now: number): Goal | null =>
  goalAt(goalProjection.of(state.features), now) ?? null;

function open(session: SessionContext): LiveFeature {
  const { log, clock } = session;
  const work = createGoalWork(session);
  const { state } = work;

  /** The reason why no more tools run in this step; undefined if they may. */
  function veto({ id }: AgentContext, turnId: number): string | undefined {
    const { lastStep } = work;
    if (id !== MAIN_AGENT || lastStep?.turnId !== turnId) return undefined;
    return lastStep.steps === state().turn?.steps ? lastStep.veto : undefined;
  }

  function onStepStart(agent: AgentContext, { turnId, step }: StepHead) {
    if (agent.id !== MAIN_AGENT) return {};
    const goal = work.present();
    const messages = pendingCancelReminder(state());
    if (!goal) return { messages };
    if (step === 1) return firstStep(goal, turnId, messages);
    if (beginsAnew(agent.state())) messages.push(goalReminder(goal));
    const turn = drivenTurn(state());
    if (!turn || goal.status !== 'active' || !goal.budget.tokenBudgetReached) return { messages };
    // A step without tool calls continues only because of user input, which the token budget does not stop.
    if (turn.called) {
      work.lastStep = { turnId, steps: turn.steps, veto: BUDGET_VETO };
      messages.push(budgetStop(goal));
    }
    return { messages, before: [blocked(goal)] };
  }

  function firstStep(goal: Goal, turnId: number, messages: ContextMessage[]) {
    if (goal.status !== 'active') return { messages: [...messages, goalReminder(goal)] };
    const more = withUsage(goal, { turnsUsed: goal.turnsUsed + 1 });
    return { messages: [...messages, goalReminder(more)], before: [counted(more, turnId)] };
  }

  /** The records that the end of a turn causes for the goal; an active goal within its budget gets its next turn. */
  function goalBehind(
    agent: AgentContext,
    last: GoalState,
    turnId: number,
    outcome: TurnOutcome,
    { error }: TurnEnding,
  ): Draft[] {
    const turn = drivenTurn(last);
    const active = goalAt(last, clock.now());
    const { resumed } = work;
    work.resumed = false;
    if (!turn || active?.status !== 'active') return [];
    const goal = turn.uncounted ? withUsage(active, { turnsUsed: active.turnsUsed + 1 }) : active;
    const interrupted = outcome === 'cancelled' && !resumed;
    if (interrupted || (outcome === 'failed' && error?.code !== 'loop.max_steps_exceeded')) {
      const reason = interrupted ? INTERRUPTED : pauseReason(error?.code);
      return [moved(goal, 'paused', { actor: 'runtime', reason })];
    }
    if (goal.budget.overBudget) return [blocked(goal)];
    work.goOn(agent, goal);
    return turn.uncounted ? [counted(goal, turnId)] : [];
  }

  let tools: readonly Tool[] | undefined;
  return {
    tools(agent) {
      // A side conversation's prompt lists the main agent's tools; it cannot call any of these.
      const side = agent.log.state.status.agents.get(agent.id)?.birth?.purpose === 'btw';
      if (agent.id !== MAIN_AGENT && !side) return [];
      tools ??= createGoalTools(createGoalActions(work, session.agents.main.context));
      return tools;
    },
    beforeToolCall: (agent, { turnId }) => veto(agent, turnId),
    shouldStopTurn: (agent, { turnId }) => veto(agent, turnId) !== undefined,
    onStepStart,
    onTurnEnd(agent, turnId, outcome, end) {
      if (agent.id !== MAIN_AGENT || !(state().goal || state().cancelUnreported)) return {};
      const last = foldedWith(state(), end.line, clock.now());
      return { before: goalBehind(agent, last, turnId, outcome, end), after: pendingCancelDrafts(last) };
    },
    opensTurn: ({ goal_control }) => goal_control === 'resume',

    async configure(agent, { goal_objective, goal_control }) {
      if (goal_objective === undefined && goal_control === undefined) return;
      await log.claim();
      if (goal_objective !== undefined) setGoal(work, agent, goal_objective);
      if (goal_control !== undefined) controlGoal(work, agent, goal_control);
    },
    onUnload() {
      work.release();
      return Promise.resolve();
    },
  };
}

export const goals: Feature = {
  name: 'goals',
  projection: goalProjection,
  transcript: goalTranscript,
  open,
};
