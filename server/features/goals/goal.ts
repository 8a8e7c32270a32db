/** A goal with its usage, its budgets and the budgets that are reached. */
import type { Goal } from '#schema/events/modes.ts';

/** Characters of an objective, trimmed, and of a completion criterion. */
export const GOAL_CHARS = 4000;
/** Share of a budget from which the reminder advises the model to finish. */
const NEARLY_USED = 0.75;

export type GoalUsage = Pick<Goal, 'turnsUsed' | 'tokensUsed' | 'wallClockMs'>;
export type GoalBudgets = Pick<Goal['budget'], 'turnBudget' | 'tokenBudget' | 'wallClockBudgetMs'>;

const NO_BUDGETS: GoalBudgets = { tokenBudget: null, turnBudget: null, wallClockBudgetMs: null };

/** An active goal without usage. */
export function newGoal(goalId: string, objective: string, completionCriterion: string | undefined): Goal {
  const unused: GoalUsage = { turnsUsed: 0, tokensUsed: 0, wallClockMs: 0 };
  return {
    goalId,
    objective,
    ...(completionCriterion ? { completionCriterion } : {}),
    status: 'active',
    ...unused,
    budget: budgetOf(unused, NO_BUDGETS),
  };
}

/** Returns the goal with more usage. */
export function withUsage(goal: Goal, more: Partial<GoalUsage>): Goal {
  const used = { ...goal, ...more };
  return { ...used, budget: budgetOf(used, used.budget) };
}

/** Returns the goal with other budgets; unnamed ones are unchanged. */
export const withBudgets = (goal: Goal, budgets: Partial<GoalBudgets>): Goal => ({
  ...goal,
  budget: budgetOf(goal, { ...goal.budget, ...budgets }),
});

/** Returns the goal in another state; the previous reason is removed. */
export function withStatus(goal: Goal, status: Goal['status'], reason?: string): Goal {
  const { terminalReason: _last, ...kept } = goal;
  return { ...kept, status, ...(reason === undefined ? {} : { terminalReason: reason }) };
}

function budgetOf(used: GoalUsage, { tokenBudget, turnBudget, wallClockBudgetMs }: GoalBudgets): Goal['budget'] {
  const tokenBudgetReached = tokenBudget !== null && used.tokensUsed >= tokenBudget;
  const turnBudgetReached = turnBudget !== null && used.turnsUsed >= turnBudget;
  const wallClockBudgetReached = wallClockBudgetMs !== null && used.wallClockMs >= wallClockBudgetMs;
  return {
    tokenBudget,
    turnBudget,
    wallClockBudgetMs,
    remainingTokens: left(tokenBudget, used.tokensUsed),
    remainingTurns: left(turnBudget, used.turnsUsed),
    remainingWallClockMs: left(wallClockBudgetMs, used.wallClockMs),
    tokenBudgetReached,
    turnBudgetReached,
    wallClockBudgetReached,
    overBudget: tokenBudgetReached || turnBudgetReached || wallClockBudgetReached,
  };
}

const left = (budget: number | null, used: number) => (budget === null ? null : Math.max(0, budget - used));

/** Names the budgets that are used up; undefined while none is. */
export function reachedBudgets({ budget }: Goal): string | undefined {
  const names = [
    ...(budget.turnBudgetReached ? ['turn'] : []),
    ...(budget.tokenBudgetReached ? ['token'] : []),
    ...(budget.wallClockBudgetReached ? ['time'] : []),
  ];
  if (names.length === 0) return undefined;
  return `The ${names.join(' and ')} budget${names.length > 1 ? 's are' : ' is'} used up`;
}

/** Whether at least one budget is nearly used up. */
export function nearBudget({ turnsUsed, tokensUsed, wallClockMs, budget }: Goal): boolean {
  const near = (used: number, whole: number | null) => whole !== null && used >= whole * NEARLY_USED;
  return (
    near(turnsUsed, budget.turnBudget) ||
    near(tokensUsed, budget.tokenBudget) ||
    near(wallClockMs, budget.wallClockBudgetMs)
  );
}
