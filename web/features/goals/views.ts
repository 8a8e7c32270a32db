/** The texts of a goal, and the views of the calls that set and end one. */
import type { Goal } from '@service-code/client';
import { t } from '../../messages/messages.ts';
import { firstLine, textOf, type Args, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';

export type GoalBody = { kind: 'goal'; objective: string; completionCriterion: string };

const stateWords = {
  active: 'goals.active',
  paused: 'goals.paused',
  blocked: 'goals.blocked',
  complete: 'goals.complete',
} as const;

export const stateWord = ({ status }: Pick<Goal, 'status'>): string => t(stateWords[status]);

/** Used turns, tokens and time, with their budgets. */
export function usedOf({ turnsUsed, tokensUsed, wallClockMs, budget }: Goal): string[] {
  const { turnBudget, tokenBudget, wallClockBudgetMs } = budget;
  const number = (value: number) => value.toLocaleString('en');
  const time = (ms: number) => t('time.roughly', { ms });
  return [
    t('goals.turns', { used: turnsUsed, most: turnBudget ?? undefined }),
    t('goals.tokens', {
      used: number(tokensUsed),
      most: tokenBudget === null ? undefined : number(tokenBudget),
    }),
    t('goals.time', {
      used: time(wallClockMs),
      most: wallClockBudgetMs === null ? undefined : time(wallClockBudgetMs),
    }),
  ];
}

function start(objective: string, completionCriterion: string): ToolSummary {
  const body: GoalBody = { kind: 'goal', objective, completionCriterion };
  return { verb: t('tools.setGoal'), subject: firstLine(objective), prose: true, body };
}

const budget = ({ value, unit }: Args) => [value, unit].filter((part) => part !== undefined).join(' ');

export const goalViews: ToolViews = {
  tools: {
    CreateGoal: (args) => start(textOf(args, 'objective'), textOf(args, 'completionCriterion')),
    GetGoal: () => ({ verb: t('tools.readGoal'), subject: '', effect: 'reads' }),
    SetGoalBudget: (args) => ({ verb: t('tools.limitGoal'), subject: budget(args), prose: true }),
    UpdateGoal: (args) => ({ verb: t('tools.updateGoal'), subject: textOf(args, 'status'), prose: true }),
  },
  displays: {
    goal_start: ({ objective, completionCriterion = '' }) => start(objective, completionCriterion),
  },
};
