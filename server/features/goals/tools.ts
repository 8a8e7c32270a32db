/** The model's tools for the goal, of the main agent only: set it, read it, give it a budget, end it. */
import * as z from 'zod';
import { cutText } from '#server/text/truncate.ts';
import { defineTool, ToolInputError, type RunContext, type Tool, type ToolResult } from '#server/tools/tool.ts';
import type { Display } from '#schema/rest/display.ts';
import type { Goal } from '#schema/events/modes.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import { GOAL_CHARS, type GoalBudgets } from './goal.ts';

export interface NewGoal {
  objective: string;
  completionCriterion?: string | undefined;
  replace?: boolean | undefined;
}

/** Actions of the tools. Each of the three changes appends its call's result itself: check and change are atomic. */
export interface GoalActions {
  goal(): Goal | undefined;
  mode(): PermissionMode;
  /** The reason why a new goal cannot be set now; undefined if it can. */
  refusal(wanted: NewGoal): string | undefined;
  /** Creates the goal after the approval, in the permission mode that was chosen with it. */
  create(wanted: NewGoal, context: RunContext): Promise<ToolResult>;
  budget(budgets: Partial<GoalBudgets>, context: RunContext): ToolResult;
  update(status: UpdatedStatus, context: RunContext): ToolResult;
  /** Whether such an update would end the work on the goal. */
  ends(status: UpdatedStatus): boolean;
}

export type UpdatedStatus = z.infer<typeof updateParameters>['status'];

const createParameters = z.object({
  objective: z.string().describe(`What is to be reached, 1 to ${GOAL_CHARS} characters.`),
  completionCriterion: z.string().optional().describe('How one can tell that it is reached.'),
  replace: z.boolean().optional().describe('Replaces the present goal, whatever its state. Needed when there is one.'),
});

const CREATE = `Set a goal that is worked on turn after turn until it is reached, blocked or out of budget.

Use it only when the user asks for a goal or for work that goes on by itself. The user may be asked first. This turn already works for it.`;

/** The approval displays the goal as it will be stored, trimmed. */
function createGoalTool(actions: GoalActions): Tool {
  return defineTool({
    name: 'CreateGoal',
    permission: 'free',
    effects: 'none',
    description: CREATE,
    parameters: createParameters,
    prepare(args) {
      const wanted = trimmed(args);
      const refused = actions.refusal(wanted);
      if (refused !== undefined) throw new ToolInputError(refused);
      const mode = actions.mode();
      return {
        accesses: [],
        label: 'Creating a goal',
        subject: { match: 'literal' },
        ...(mode === 'auto' ? {} : { display: startDisplay(wanted, mode) }),
        review: {},
        run: (context) => actions.create(wanted, context),
      };
    },
  });
}

const startDisplay = ({ objective, completionCriterion }: NewGoal, mode: Exclude<PermissionMode, 'auto'>): Display => ({
  kind: 'goal_start',
  objective,
  ...(completionCriterion ? { completionCriterion } : {}),
  mode,
});

const trimmed = ({ objective, completionCriterion, replace }: NewGoal): NewGoal => ({
  objective: objective.trim(),
  completionCriterion: completionCriterion && cutText(completionCriterion.trim(), GOAL_CHARS),
  replace,
});

const getParameters = z.object({});

function getGoalTool(actions: GoalActions): Tool {
  return defineTool({
    name: 'GetGoal',
    permission: 'free',
    effects: 'none',
    description: 'Read the goal of this session: its state, what was used for it, and its budgets. `null` without one.',
    parameters: getParameters,
    prepare: () => ({
      accesses: [],
      label: 'Read the goal',
      subject: { match: 'literal' },
      run: () => {
        const { goalId: _id, ...shown } = actions.goal() ?? {};
        return Promise.resolve({ output: JSON.stringify('objective' in shown ? shown : null) });
      },
    }),
  });
}

const units = { milliseconds: 1, seconds: 1000, minutes: 60_000, hours: 3_600_000 };
const SHORTEST_MS = units.seconds;
const LONGEST_MS = 24 * units.hours;

const budgetParameters = z.object({
  value: z.number().positive(),
  unit: z.enum(['turns', 'tokens', 'milliseconds', 'seconds', 'minutes', 'hours']),
});

/** Throws `ToolInputError` for a time out of bounds. */
function budgetsOf({ value, unit }: z.infer<typeof budgetParameters>): Partial<GoalBudgets> {
  const whole = Math.max(1, Math.round(value));
  if (unit === 'turns') return { turnBudget: whole };
  if (unit === 'tokens') return { tokenBudget: whole };
  const wallClockBudgetMs = Math.round(value * units[unit]);
  if (wallClockBudgetMs < SHORTEST_MS || wallClockBudgetMs > LONGEST_MS) {
    throw new ToolInputError('A time budget is at least 1 second and at most 24 hours.');
  }
  return { wallClockBudgetMs };
}

function setGoalBudgetTool(actions: GoalActions): Tool {
  return defineTool({
    name: 'SetGoalBudget',
    permission: 'free',
    effects: 'none',
    description:
      'Limit the work on the goal, counted from its beginning: turns, output tokens, or time (1 second to 24 hours). A kind that has a budget gets the new one. Use it when the user names a limit.',
    parameters: budgetParameters,
    prepare(args) {
      const budgets = budgetsOf(args);
      return {
        accesses: [],
        label: `Set a goal budget of ${args.value} ${args.unit}`,
        subject: { match: 'literal' },
        run: async (context) => actions.budget(budgets, context),
      };
    },
  });
}

const updateParameters = z.object({
  status: z
    .enum(['active', 'complete', 'blocked'])
    .describe(
      '`complete`: it is reached, and that was checked. `blocked`: nothing more can be done without the user. `active`: the user asked to go on with a paused or blocked goal.',
    ),
});

function updateGoalTool(actions: GoalActions): Tool {
  return defineTool({
    name: 'UpdateGoal',
    permission: 'free',
    effects: 'none',
    description:
      'Tell that the goal is reached, that it is blocked, or that work on it goes on. After `complete` and `blocked` no other tools run in this turn; one short message to the user follows.',
    parameters: updateParameters,
    prepare: ({ status }) => ({
      accesses: [],
      label: `Set the goal to ${status}`,
      subject: { match: 'literal' },
      stopsBatch: actions.ends(status),
      run: async (context) => actions.update(status, context),
    }),
  });
}

export const createGoalTools = (actions: GoalActions): readonly Tool[] => [
  createGoalTool(actions),
  getGoalTool(actions),
  setGoalBudgetTool(actions),
  updateGoalTool(actions),
];
