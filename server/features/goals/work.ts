/** The work on a session's goal as this process does it: what it reads and writes, and what it waits for. */
import type { AgentContext, SessionContext } from '#server/agent/context.ts';
import { TurnAborted } from '#server/agent/errors.ts';
import { entering, type Draft } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Goal } from '#schema/events/modes.ts';
import { reachedBudgets } from './goal.ts';
import { drivenTurn, goalAt, goalProjection, type GoalState } from './projection.ts';
import { moved, type Mover } from './records.ts';
import { cancelledReminder, continuation } from './reminders.ts';

/** From when on no tools run in a turn, and why. */
export interface LastStep {
  turnId: number;
  /** So many steps of it are over. */
  steps: number;
  veto: string;
}

export interface GoalWork {
  /** Resumed while the turn that was cancelled comes to its end. */
  resumed: boolean;
  lastStep: LastStep | undefined;
  state(): GoalState;
  /** The goal as of now. */
  present(): Goal | undefined;
  /** Appends what changes the goal. */
  write(agent: AgentContext, drafts: Draft[]): void;
  /** Makes it active, unless a budget is used up: then it is blocked at once. Whether it is active now. */
  activate(agent: AgentContext, goal: Goal, by: Mover, also?: { turnId: number; behind: Draft[] }): boolean;
  /** Opens a turn for the goal as soon as the agent is free, unless another one follows or the goal is active no more. */
  goOn(agent: AgentContext, goal: Goal): void;
  /** Waits for nothing any more. */
  release(): void;
}

/** Creates the work of one loaded session. */
export function createGoalWork(session: SessionContext): GoalWork {
  const { log, clock } = session;
  let callOff = () => {};

  const state = () => goalProjection.of(log.state.features);
  const present = () => goalAt(state(), clock.now());

  function write(agent: AgentContext, drafts: Draft[]): void {
    log.append(drafts);
    watchTime(agent);
  }

  /** Waits for the end of the time budget. */
  function watchTime(agent: AgentContext): void {
    callOff();
    const goal = present();
    const left = goal?.budget.remainingWallClockMs;
    if (goal?.status === 'active' && typeof left === 'number') callOff = clock.setTimeout(() => timeOver(agent), left);
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
    release: () => callOff(),
  };
}

/** Ends the main agent's turn, not as its user's wish; `message` is for clients. */
export const endTurn = ({ agents }: SessionContext, message: string): void =>
  agents.main.cancelTurn(new TurnAborted('server', message));

/** A budget is used up. */
export const blocked = (goal: Goal): Draft =>
  moved(goal, 'blocked', { actor: 'runtime', reason: reachedBudgets(goal) ?? 'A budget is used up' });

/** Tells the model that its goal is gone, if that was not told. */
export const untoldCancel = ({ cancelUntold }: GoalState) => (cancelUntold ? [cancelledReminder()] : []);

/** The same as a record. */
export const untoldCancelDraft = (state: GoalState): Draft[] =>
  state.cancelUntold ? [entering(MAIN_AGENT, untoldCancel(state), { cause: 'reminder' })] : [];
