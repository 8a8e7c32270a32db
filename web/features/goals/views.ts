/** The texts of a goal, and the views of the calls that set and end one. */
import type { Goal } from '@service-code/client';
import { firstLine, textOf, type Args, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';

export type GoalBody = { kind: 'goal'; objective: string; completionCriterion: string };

const stateWords = { active: 'Goal', paused: 'Goal paused', blocked: 'Goal blocked', complete: 'Goal reached' };

export const stateWord = ({ status }: Pick<Goal, 'status'>): string => stateWords[status];

/** `2 h 5 min`, `5 min`, `40 s`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Used turns, tokens and time, with their budgets. */
export function usedOf({ turnsUsed, tokensUsed, wallClockMs, budget }: Goal): string[] {
  const of = (used: string, whole: string | undefined, unit: string) =>
    [used, ...(whole === undefined ? [] : ['of', whole]), ...(unit ? [unit] : [])].join(' ');
  const { turnBudget, tokenBudget, wallClockBudgetMs } = budget;
  const number = (value: number | null) => (value === null ? undefined : value.toLocaleString('en'));
  return [
    of(`${turnsUsed}`, number(turnBudget), turnsUsed === 1 && turnBudget === null ? 'turn' : 'turns'),
    of(tokensUsed.toLocaleString('en'), number(tokenBudget), 'tokens'),
    of(duration(wallClockMs), wallClockBudgetMs === null ? undefined : duration(wallClockBudgetMs), ''),
  ];
}

function start(objective: string, completionCriterion: string): ToolSummary {
  const body: GoalBody = { kind: 'goal', objective, completionCriterion };
  return { verb: 'Set goal', subject: firstLine(objective), prose: true, body };
}

const budget = ({ value, unit }: Args) => [value, unit].filter((part) => part !== undefined).join(' ');

export const goalViews: ToolViews = {
  tools: {
    CreateGoal: (args) => start(textOf(args, 'objective'), textOf(args, 'completionCriterion')),
    GetGoal: () => ({ verb: 'Read goal', subject: '', effect: 'reads' }),
    SetGoalBudget: (args) => ({ verb: 'Limit goal', subject: budget(args), prose: true }),
    UpdateGoal: (args) => ({ verb: 'Update goal', subject: textOf(args, 'status'), prose: true }),
  },
  displays: {
    goal_start: ({ objective, completionCriterion = '' }) => start(objective, completionCriterion),
  },
};
