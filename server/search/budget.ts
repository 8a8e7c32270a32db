/** Limits of one query. They are checked between its windows; then also aborts and other requests of the thread arrive. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Incomplete } from '#schema/rest/search.ts';

export interface BudgetLimits {
  milliseconds: number;
  candidates: { terms: number; literal: number };
  /** Documents read for a term. */
  postings: number;
  /** UTF-16 units of texts that are compared. */
  textUnits: number;
  /** Documents of the first window: a query may exceed a limit by one window. */
  firstWindow: number;
}

export const budgetLimits: BudgetLimits = {
  milliseconds: 500,
  candidates: { terms: 100_000, literal: 10_000 },
  postings: 250_000,
  textUnits: 16_000_000,
  firstWindow: 5_000,
};

export interface Budget {
  /** Adds candidates. Where filters may omit some, `count` returns their number; it is called if the limit is near. */
  addCandidates(atMost: number, count?: () => number): void;
  postings: number;
  textUnits: number;
  readonly firstWindow: number;
  /** The limit that was reached first, if one was. */
  readonly incomplete: Incomplete | undefined;
  /** Whether another window, or more texts of one, may be read. */
  mayRead(): Promise<boolean>;
}

/** Starts the budget of a query; its checks reject with what `checkAborted` throws. */
export function startBudget(mode: 'terms' | 'literal', limits: BudgetLimits, checkAborted: () => void): Budget {
  const end = performance.now() + limits.milliseconds;
  let incomplete: Incomplete | undefined;

  const outOfTime = () => (budget.textUnits >= limits.textUnits || performance.now() >= end ? 'deadline' : undefined);

  /** Lets messages of the thread arrive. */
  async function takeTurn(): Promise<void> {
    await nextTurn();
    checkAborted();
  }

  /** At most so many; those of `uncounted` may be fewer. */
  let candidates = 0;
  const uncounted: { atMost: number; count: () => number }[] = [];

  async function countCandidates(): Promise<void> {
    while (candidates >= limits.candidates[mode] && !outOfTime()) {
      const next = uncounted.shift();
      if (!next) return;
      candidates += next.count() - next.atMost;
      await takeTurn();
    }
  }

  async function exceeded(): Promise<Incomplete | undefined> {
    await countCandidates();
    if (candidates >= limits.candidates[mode] && uncounted.length === 0) return 'candidate_cap';
    return budget.postings >= limits.postings ? 'postings_budget' : outOfTime();
  }

  const budget: Budget = {
    addCandidates(atMost, count) {
      candidates += atMost;
      if (count) uncounted.push({ atMost, count });
    },
    postings: 0,
    textUnits: 0,
    firstWindow: limits.firstWindow,
    get incomplete() {
      return incomplete;
    },
    async mayRead() {
      await takeTurn();
      const reached = await exceeded();
      incomplete ??= reached;
      return reached === undefined;
    },
  };
  return budget;
}
