import type { Goal } from '#schema/events/modes.ts';

/** The budget of a goal without limits. */
export const noBudget: Goal['budget'] = {
  tokenBudget: null,
  turnBudget: null,
  wallClockBudgetMs: null,
  remainingTokens: null,
  remainingTurns: null,
  remainingWallClockMs: null,
  tokenBudgetReached: false,
  turnBudgetReached: false,
  wallClockBudgetReached: false,
  overBudget: false,
};
