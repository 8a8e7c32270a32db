/** What clients are told about a session's activity: `event.session.work_changed` (ws-events.md §9.1). */
import { event, type Draft } from '#server/journal/records.ts';
import type { PendingInteraction, TurnOutcome } from '#schema/scalars.ts';

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

export const idleFacts: WorkFacts = { busy: false, main_turn_active: false, pending_interaction: 'none' };

const same = (a: WorkFacts, b: WorkFacts) =>
  a.busy === b.busy &&
  a.main_turn_active === b.main_turn_active &&
  a.pending_interaction === b.pending_interaction &&
  a.last_turn_reason === b.last_turn_reason;

/** `standing` is what the journal tells: it counts until this process changes something itself. */
export function createWorkState(standing: () => WorkFacts): WorkState {
  let changed: WorkFacts | undefined;
  const facts = () => changed ?? standing();
  return {
    facts,
    change(members) {
      const current = facts();
      const next = { ...current, ...members };
      if (same(next, current)) return [];
      changed = next;
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
