/** Actions of the goal tools. Each change is appended on the same line as the result of its call. */
import { randomUUID } from 'node:crypto';
import type { AgentContext } from '#server/agent/contract/context.ts';
import type { Draft } from '#server/journal/records.ts';
import type { ApprovalAnswer } from '#server/interactions/approvals.ts';
import { failed, type RunContext, type ToolResult } from '#server/tools/tool.ts';
import type { Goal } from '#schema/events/modes.ts';
import { permissionModeSchema } from '#schema/scalars.ts';
import { GOAL_CHARS, newGoal, reachedBudgets, withBudgets } from './goal.ts';
import { budgeted, completed, created, moved } from './records.ts';
import { OUTCOME_VETO } from './reminders.ts';
import type { GoalActions, NewGoal, UpdatedStatus } from './tools.ts';
import type { GoalWork } from './work.ts';

const REPLACED =
  'Ignored: the user has set another goal meanwhile, or taken this one away. What it is now you are told at the next turn.';
const declined = ({ decision, feedback }: ApprovalAnswer) =>
  [
    decision === 'rejected' ? 'The user does not want this goal.' : 'Nobody agreed to this goal.',
    'Do not work on it.',
    ...(feedback ? [`Reason: ${feedback}`] : []),
  ].join(' ');
const NO_GOAL = 'There is no goal. Set one with CreateGoal first.';

/** Creates the actions of the main agent. */
export function createGoalActions(work: GoalWork, agent: AgentContext): GoalActions {
  function end(context: RunContext, output: string, drafts: Draft[]): ToolResult {
    const result = { output };
    work.write(agent, [...drafts, ...context.finish(result)]);
    return result;
  }

  function refusal({ objective, replace }: NewGoal): string | undefined {
    if (objective === '') return 'The objective must not be empty.';
    if (objective.length > GOAL_CHARS) return `The objective has at most ${GOAL_CHARS} characters.`;
    if (!work.state().goal || replace) return undefined;
    return 'There is a goal already. Pass "replace" only if the user wants another one.';
  }

  /** The goal that the turn's model was reminded of; otherwise the result that explains the difference. */
  function known(): { goal: Goal } | { result: ToolResult } {
    const goal = work.present();
    if (goal?.goalId !== work.state().turn?.goalId) return { result: { output: REPLACED } };
    return goal ? { goal } : { result: failed(NO_GOAL) };
  }

  function reactivate(goal: Goal, context: RunContext): ToolResult {
    if (goal.status === 'active') return { output: 'The goal is active.' };
    const over = reachedBudgets(goal);
    const output = over ? `${over}, so the goal stays blocked. Ask the user for more.` : 'The goal is active again.';
    const { turnId } = context;
    work.activate(agent, goal, { actor: 'model' }, { turnId, behind: context.finish({ output }) });
    return { output };
  }

  function finish(goal: Goal, status: Exclude<UpdatedStatus, 'active'>, context: RunContext): ToolResult {
    work.lastStep = { turnId: context.turnId, steps: (work.state().turn?.steps ?? 0) + 1, veto: OUTCOME_VETO };
    return status === 'complete'
      ? end(context, 'The goal is complete. Tell the user in a short message what was reached.', completed(goal))
      : end(context, 'The goal is blocked. Tell the user in a short message what is needed to go on.', [
          moved(goal, 'blocked', { actor: 'model' }),
        ]);
  }

  return {
    goal: work.present,
    mode: agent.config.permission,
    refusal,
    async create(wanted, context) {
      const { answer } = context;
      if (answer && answer.decision !== 'approved') return failed(declined(answer));
      const mode = permissionModeSchema.safeParse(answer?.selectedLabel).data;
      if (mode) await agent.config.change({ permission: mode, by: answer?.by });
      context.signal.throwIfAborted();
      const refused = refusal(wanted);
      if (refused !== undefined) return failed(refused);
      const goal = newGoal(randomUUID(), wanted.objective, wanted.completionCriterion);
      return end(context, 'The goal is set, and this turn works for it. Begin.', [created(goal, context.turnId)]);
    },
    budget(budgets, context) {
      const found = known();
      if ('result' in found) return found.result;
      const goal = withBudgets(found.goal, budgets);
      return end(context, `The budget is set. ${JSON.stringify(goal.budget)}`, [budgeted(goal)]);
    },
    ends(status) {
      const found = known();
      return status !== 'active' && 'goal' in found && found.goal.status === 'active';
    },
    update(status, context) {
      const found = known();
      if ('result' in found) return found.result;
      const { goal } = found;
      if (status === 'active') return reactivate(goal, context);
      if (goal.status === 'active') return finish(goal, status, context);
      return failed(`The goal is ${goal.status}; only an active one can be ${status}.`);
    },
  };
}
