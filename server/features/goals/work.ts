/** The work on a session's goal in this process: access to its state, its timer and its next turn. */
import type { AgentContext, SessionContext } from '#server/agent/contract/context.ts';
import { TurnAborted } from '#server/agent/contract/errors.ts';
import { entering, type Draft } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Goal } from '#schema/events/modes.ts';
import { reachedBudgets } from './goal.ts';
import { drivenTurn, goalAt, goalProjection, type GoalState } from './projection.ts';
import { moved, type Mover } from './records.ts';
import { cancelledReminder, continuation } from './reminders.ts';

/** The point from which no tools run in a turn, and the reason. */
export interface LastStep {
  turnId: number;
  /** Number of completed steps at that point. */
  steps: number;
  veto: string;
}

export interface GoalWork {
  /** The goal was resumed while its cancelled turn was ending. */
  resumed: boolean;
  lastStep: LastStep | undefined;
  state(): GoalState;
  /** The goal at the present time. */
  present(): Goal | undefined;
  /** Appends changes of the goal. */
  write(agent: AgentContext, drafts: Draft[]): void;
  /** Activates the goal; with a budget used up it is blocked immediately. Returns whether it is active. */
  activate(agent: AgentContext, goal: Goal, by: Mover, also?: { turnId: number; behind: Draft[] }): boolean;
  /** Opens a turn for the goal when the agent is free, unless another one follows or the goal is no longer active. */
  goOn(agent: AgentContext, goal: Goal): void;
  /** Cancels the timer. */
  release(): void;
}

/** Creates the work of one loaded session. */
export function createGoalWork(session: SessionContext): GoalWork {
  const { log, clock } = session;
  let cancelTimer = () => {};

  const state = () => goalProjection.of(log.state.features);
  const present = () => goalAt(state(), clock.now());

  function write(agent: AgentContext, drafts: Draft[]): void {
    log.append(drafts);
    watchTime(agent);
  }

  /** Starts the timer of the time budget. */
  function watchTime(agent: AgentContext): void {
    cancelTimer();
    const goal = present();
    const left = goal?.budget.remainingWallClockMs;
    if (goal?.status === 'active' && typeof left === 'number')
      cancelTimer = clock.setTimeout(() => timeOver(agent), left);
  }

  function timeOver(agent: AgentContext): void {
    const goal = present();
    if (goal?.status !== 'active') return;
    // The clock may have been set back.
    if (!goal.budget.wallClockBudgetReached) {
      watchTime(agent);
      return;
    }
    const turn = drivenTurn(state());
    if (log.attempt([blocked(goal)]) && turn) endTurn(session, 'the time budget of the goal is used up');
  }

  return {
    resumed: false,
    lastStep: undefined,
    state,
    present,
    write,
    activate(agent, goal, by, also) {
      const over = goal.budget.overBudget;
      const again = moved(goal, 'active', by, also?.turnId);
      write(agent, [again, ...(over ? [blocked(goal)] : []), ...(also?.behind ?? [])]);
      return !over;
    },
    goOn(agent, { goalId }) {
      agent.wake(() => {
        const { goal } = state();
        return goal?.goalId === goalId && goal.status === 'active' ? continuation() : undefined;
      });
    },
    release: () => cancelTimer(),
  };
}

/** Ends the main agent's turn on the server's behalf, not the user's; `message` is for clients. */
export const endTurn = ({ agents }: SessionContext, message: string): void =>
  agents.main.cancelTurn(new TurnAborted('server', message));

/** The record of a goal whose budget is used up. */
export const blocked = (goal: Goal): Draft =>
  moved(goal, 'blocked', { actor: 'runtime', reason: reachedBudgets(goal) ?? 'A budget is used up' });

/** The reminder of a cancelled goal, if the model has not received it. */
export const pendingCancelReminder = ({ cancelUnreported }: GoalState) =>
  cancelUnreported ? [cancelledReminder()] : [];

/** The same reminder as a record. */
export const pendingCancelDrafts = (state: GoalState): Draft[] =>
  state.cancelUnreported ? [entering(MAIN_AGENT, pendingCancelReminder(state), { cause: 'reminder' })] : [];
