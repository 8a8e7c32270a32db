/** The sessions that wait for a person. */
import type { Session } from '@service-code/client';

export type Waiting = Session & { pending_interaction: Exclude<Session['pending_interaction'], 'none'> };

const waits = (session: Session): session is Waiting => session.pending_interaction !== 'none';

/** Longest waiting first: the last change of a waiting session is its request. */
export const waitingSessions = (sessions: readonly Session[]): Waiting[] => sessions.filter(waits).toReversed();

/** The sessions that did not wait for the same kind of answer before, and the ids of those that wait no more. */
export function changedWaiting(
  before: readonly Waiting[],
  now: readonly Waiting[],
): { begun: Waiting[]; ended: string[] } {
  const known = new Map(before.map((session) => [session.id, session.pending_interaction]));
  const ids = new Set(now.map(({ id }) => id));
  return {
    begun: now.filter(({ id, pending_interaction }) => known.get(id) !== pending_interaction),
    ended: before.flatMap(({ id }) => (ids.has(id) ? [] : [id])),
  };
}
