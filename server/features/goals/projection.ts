/** The goal of a session's main agent, and the running turn's part in it. Undo does not revert the goal. */
import { reminder } from '#server/agent/prompt/reminders.ts';
import { defineFeatureProjection } from '#server/journal/projections/feature-projection.ts';
import { entering, recordOf, unsent, type Draft, type JournalRecord } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Goal } from '#schema/events/modes.ts';
import { withUsage } from './goal.ts';
import { moved } from './records.ts';

export interface GoalState {
  /** The last recorded goal plus the tokens used since; its time is measured up to `since`. */
  goal: Goal | undefined;
  /** Time of the last measurement, in ms. */
  since: number;
  /** The main agent's running turn. */
  turn: GoalTurn | undefined;
  /** A goal was cancelled, and the model has not received the reminder. */
  cancelUnreported: boolean;
  /** Number of goals cancelled so far. */
  cancelled: number;
}

/** The state that an undo reverts: not the goal, but the model's knowledge of it. */
interface GoalCheckpoint {
  /** Whether there was a goal, so that its reminder was sent or due. */
  known: boolean;
  cancelUnreported: boolean;
  cancelled: number;
}

export interface GoalTurn {
  turnId: number;
  /** The goal that the turn's model has been reminded of. */
  goalId: string | undefined;
  /** The turn works for that goal. */
  driven: boolean;
  /** The turn started to work for the goal midway, so it is counted at its end. */
  uncounted: boolean;
  /** Completed steps, without failed attempts. */
  steps: number;
  /** The newest step called tools. */
  called: boolean;
}

/** Variant of the reminder of a cancelled goal. */
export const GOAL_CANCELLED = 'goal_cancelled';

/** The reminder for the copy of a session with a goal. */
const notForked = () =>
  reminder(
    'goal_fork_cleared',
    'This session was copied from one that works towards a goal. The goal stayed there: do not work on it here unless the user asks for that.',
  );

export const goalProjection = defineFeatureProjection<GoalState, GoalCheckpoint>({
  name: 'goals',
  initial: () => ({ goal: undefined, since: 0, turn: undefined, cancelUnreported: false, cancelled: 0 }),
  apply,
  undo: {
    checkpoint: ({ goal, cancelUnreported, cancelled }) => ({ known: goal !== undefined, cancelUnreported, cancelled }),
    restore(state, agent, { known, cancelUnreported, cancelled }) {
      if (agent === MAIN_AGENT) state.cancelUnreported = cancelUnreported || (known && state.cancelled > cancelled);
    },
  },
  onCopy: ({ goal }) => (goal ? [unsent(entering(MAIN_AGENT, [notForked()], { cause: 'reminder' }))] : []),
  settle(state, at) {
    const goal = goalAt(state, at);
    if (goal?.status !== 'active') return [];
    return [unsent(moved(goal, 'paused', { actor: 'system', snapshotReason: 'Paused after agent resume' }))];
  },
});

function apply(state: GoalState, record: JournalRecord, t: number): void {
  if (record.agent !== MAIN_AGENT) return;
  const { turn } = state;
  switch (record.type) {
    case 'goal.updated': {
      const { snapshot, x } = record;
      if (snapshot === null && state.goal !== undefined && state.goal.status !== 'complete') {
        state.cancelUnreported = true;
        state.cancelled += 1;
      }
      state.goal = snapshot ?? undefined;
      state.since = t;
      if (turn && snapshot && x?.turnId === turn.turnId) {
        state.turn = { ...turn, goalId: snapshot.goalId, driven: true, uncounted: x.cause !== 'count' };
      }
      break;
    }
    case 'turn.started': {
      const { goalId, status } = state.goal ?? {};
      const driven = status === 'active';
      state.turn = { turnId: record.turnId, goalId, driven, uncounted: false, steps: 0, called: false };
      break;
    }
    case 'step.response':
      used(state, record.usage?.output);
      if (turn) state.turn = { ...turn, called: record.calls.length > 0 };
      break;
    case 'usage.recorded':
      if (record.scope === 'turn') used(state, record.usage.output);
      break;
    case 'turn.step.completed':
      if (turn) state.turn = { ...turn, steps: turn.steps + 1 };
      break;
    case 'turn.ended':
      state.turn = undefined;
      break;
    case 'context.spliced':
      if (record.messages.some(({ origin }) => origin?.kind === 'injection' && origin.variant === GOAL_CANCELLED)) {
        state.cancelUnreported = false;
      }
      break;
    case 'forked':
      Object.assign(state, { goal: undefined, turn: undefined, cancelUnreported: false });
      break;
  }
}

function used(state: GoalState, tokens = 0): void {
  const { goal } = state;
  if (tokens === 0 || goal?.status !== 'active' || !drivenTurn(state)) return;
  state.goal = withUsage(goal, { tokensUsed: goal.tokensUsed + tokens });
}

/** The running turn, if it works for the present goal. */
export const drivenTurn = ({ goal, turn }: GoalState): GoalTurn | undefined =>
  turn?.driven && goal && turn.goalId === goal.goalId ? turn : undefined;

/** The goal at a time: the time of an active goal elapses. */
export function goalAt({ goal, since }: GoalState, now: number): Goal | undefined {
  if (goal?.status !== 'active') return goal;
  return withUsage(goal, { wallClockMs: goal.wallClockMs + Math.max(0, now - since) });
}

/** The state after records that are not folded yet. */
export function foldedWith(state: GoalState, drafts: readonly Draft[], t: number): GoalState {
  const after = { ...state };
  for (const draft of drafts) if (draft.type !== 'context.spliced') apply(after, recordOf(draft, undefined), t);
  return after;
}
