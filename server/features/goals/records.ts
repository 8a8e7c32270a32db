/** The records of a goal's life. */
import { event, type CompleteDraft } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { DurableFields } from '#schema/events/catalogue.ts';
import type { Goal } from '#schema/events/modes.ts';
import { withStatus } from './goal.ts';

type Change = NonNullable<DurableFields<'goal.updated'>['change']>;

/** Who moved it, and why. */
export interface Mover {
  actor: NonNullable<Change['actor']>;
  /** Told with the change, and kept in the goal. */
  reason?: string;
  /** Kept in the goal alone. */
  snapshotReason?: string;
}

/** A new goal; `turnId` is the turn that works for it at once. */
export const created = (goal: Goal, turnId?: number): CompleteDraft =>
  event(MAIN_AGENT, 'goal.updated', { snapshot: goal }, turnOf('created', turnId));

export const budgeted = (goal: Goal): CompleteDraft =>
  event(MAIN_AGENT, 'goal.updated', { snapshot: goal }, { cause: 'budget' });

/** A turn has been counted. */
export const counted = (goal: Goal, turnId: number): CompleteDraft =>
  event(MAIN_AGENT, 'goal.updated', { snapshot: goal }, { cause: 'count', turnId });

/** Paused, blocked, active again; `turnId` is the turn that works for it at once. */
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

/** Reached, and gone. */
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
