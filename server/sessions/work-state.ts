/** What clients are told about a session's activity: `event.session.work_changed` (ws-events.md §9.1). */
import { event, type Draft } from '../journal/records.ts';
import type { PendingInteraction, TurnOutcome } from '../schema/scalars.ts';

export interface WorkFacts {
  busy: boolean;
  main_turn_active: boolean;
  pending_interaction: PendingInteraction;
  last_turn_reason?: TurnOutcome | undefined;
}

export interface WorkState {
  facts(): WorkFacts;
  /** Changes members and returns the event to append: exactly one a change, none when all stays equal. */
  change(members: Partial<WorkFacts>): Draft[];
}

const idle: WorkFacts = { busy: false, main_turn_active: false, pending_interaction: 'none' };

const same = (a: WorkFacts, b: WorkFacts) =>
  a.busy === b.busy &&
  a.main_turn_active === b.main_turn_active &&
  a.pending_interaction === b.pending_interaction &&
  a.last_turn_reason === b.last_turn_reason;

/** `outcome` is the main agent's last turn end as the journal has it. */
export function createWorkState(outcome: TurnOutcome | undefined): WorkState {
  let current: WorkFacts = { ...idle, last_turn_reason: outcome };
  return {
    facts: () => current,
    change(members) {
      const next = { ...current, ...members };
      if (same(next, current)) return [];
      current = next;
      const { last_turn_reason, ...rest } = next;
      return [
        event('main', 'event.session.work_changed', {
          ...rest,
          ...(last_turn_reason ? { last_turn_reason } : {}),
        }),
      ];
    },
  };
}
