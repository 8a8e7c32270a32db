/** The user's operations on the goal: set, pause, resume, cancel. */
import { randomUUID } from 'node:crypto';
import type { AgentContext } from '#server/agent/contract/context.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { entering } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Goal } from '#schema/events/modes.ts';
import type { AgentConfigRequest } from '#schema/rest/session.ts';
import { GOAL_CHARS, newGoal } from './goal.ts';
import { drivenTurn } from './projection.ts';
import { cleared, created, moved } from './records.ts';
import { cancelledReminder } from './reminders.ts';
import { endTurn, type GoalWork } from './work.ts';

/**
 * Sets a goal; no turn starts. Throws `goal.objective_empty`, `goal.objective_too_long`, `goal.already_exists`,
 * `persistence.failure`.
 */
export function setGoal(work: GoalWork, agent: AgentContext, text: string): void {
  const objective = text.trim();
  if (objective === '') throw new ServiceError('goal.objective_empty', 'the objective of a goal must not be empty');
  if (objective.length > GOAL_CHARS) {
    throw new ServiceError('goal.objective_too_long', `the objective of a goal has at most ${GOAL_CHARS} characters`);
  }
  if (work.state().goal) throw new ServiceError('goal.already_exists', 'the session has a goal; cancel it first');
  agent.config.create();
  work.write(agent, [created(newGoal(randomUUID(), objective, undefined))]);
}

/** Throws `goal.not_found`, `goal.status_invalid`, `persistence.failure`. */
export function controlGoal(
  work: GoalWork,
  agent: AgentContext,
  wish: NonNullable<AgentConfigRequest['goal_control']>,
): void {
  const goal = work.present();
  if (!goal) throw new ServiceError('goal.not_found', 'the session has no goal');
  if (wish === 'pause') pause(work, agent, goal);
  else if (wish === 'resume') resume(work, agent, goal);
  else cancel(work, agent);
}

function pause(work: GoalWork, agent: AgentContext, goal: Goal): void {
  if (goal.status === 'paused') return;
  if (goal.status !== 'active') {
    throw new ServiceError('goal.status_invalid', `a goal that is ${goal.status} cannot be paused`);
  }
  agent.config.create();
  work.write(agent, [moved(goal, 'paused', { actor: 'user' })]);
}

function resume(work: GoalWork, agent: AgentContext, goal: Goal): void {
  if (goal.status === 'active') {
    // Otherwise the end of a turn that is being cancelled would pause the goal.
    work.resumed = drivenTurn(work.state()) !== undefined && agent.session.agents.main.cancelling;
    return;
  }
  agent.config.create();
  if (work.activate(agent, goal, { actor: 'user' })) work.goOn(agent, goal);
}

function cancel(work: GoalWork, agent: AgentContext): void {
  const { turn } = work.state();
  const driven = drivenTurn(work.state());
  agent.config.create();
  // A running turn gets the reminder at its next step or its end.
  const reminderDrafts = turn ? [] : [entering(MAIN_AGENT, [cancelledReminder()], { cause: 'reminder' })];
  work.write(agent, [cleared(), ...reminderDrafts]);
  if (driven) endTurn(agent.session, 'the goal was cancelled');
}
