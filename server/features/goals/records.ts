/** The records that change a goal. */
import { event, type CompleteDraft } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { DurableFields } from '#schema/events/catalogue.ts';
import type { Goal } from '#schema/events/modes.ts';
import { withStatus } from './goal.ts';

type Change = NonNullable<DurableFields<'goal.updated'>['change']>;

/** The actor of a change, and its reason. */
export interface Mover {
  actor: NonNullable<Change['actor']>;
  /** Published with the change, and stored in the goal. */
  reason?: string;
  /** Stored only in the goal. */
  snapshotReason?: string;
}

/** A new goal; `turnId` is the turn that immediately works for it. */
export const created = (goal: Goal, turnId?: number): CompleteDraft =>
  event(MAIN_AGENT, 'goal.updated', { snapshot: goal }, turnOf('created', turnId));

export const budgeted = (goal: Goal): CompleteDraft =>
  event(MAIN_AGENT, 'goal.updated', { snapshot: goal }, { cause: 'budget' });

/** A turn was counted. */
export const counted = (goal: Goal, turnId: number): CompleteDraft =>
  event(MAIN_AGENT, 'goal.updated', { snapshot: goal }, { cause: 'count', turnId });

/** The goal is paused, blocked or active again; `turnId` is the turn that immediately works for it. */
export function moved(goal: Goal, status: Goal['status'], by: Mover, turnId?: number): CompleteDraft {
  const { actor, reason } = by;
  return event(
    MAIN_AGENT,
    'goal.updated',
    {
      snapshot: withStatus(goal, status, reason ?? by.snapshotReason),
      change: { kind: 'lifecycle', status, ...(reason === undefined ? {} : { reason }), actor },
    },
    turnOf('lifecycle', turnId),
  );
}

/** The goal is reached, and removed. */
export function completed(goal: Goal): CompleteDraft[] {
  const { turnsUsed, tokensUsed, wallClockMs } = goal;
  const stats = { turnsUsed, tokensUsed, wallClockMs };
  return [
    event(
      MAIN_AGENT,
      'goal.updated',
      {
        snapshot: withStatus(goal, 'complete'),
        change: { kind: 'completion', status: 'complete', actor: 'model', stats },
      },
      { cause: 'completion' },
    ),
    cleared(),
  ];
}

export const cleared = (): CompleteDraft => event(MAIN_AGENT, 'goal.updated', { snapshot: null }, { cause: 'cleared' });

const turnOf = <Cause extends string>(cause: Cause, turnId: number | undefined) => ({
  cause,
  ...(turnId === undefined ? {} : { turnId }),
});
