/** Where an undo cuts a conversation. */
import { ServiceError } from '#server/errors/service-error.ts';
import { isUndoAnchor, type ContextEntry, type ContextState } from '#server/journal/projections/context.ts';

/** Places among the entries of a context. */
export interface Cut {
  /** The oldest message that goes: one that opened a turn, or what a hook put in front of it. */
  start: number;
  /** The newest message that opened a turn and stays; -1 when none does. */
  remaining: number;
}

/**
 * Takes the last `count` messages of the user's, with everything behind them and what belongs to the oldest of them
 * directly in front of it. What a compaction has passed cannot be taken back. Throws `session.undo_unavailable`, and
 * says how many could be.
 */
export function cutOf({ entries, barrier }: Pick<ContextState, 'entries' | 'barrier'>, count: number): Cut {
  let found = 0;
  let oldest = entries.length;
  while (found < count) {
    oldest = anchorBefore(entries, oldest);
    if (oldest < barrier || oldest === -1) throw refusal(barrier > 0, count, found);
    found += 1;
  }
  const owner = entries[oldest]?.message.id;
  const belongs = (at: number) => at >= barrier && owner !== undefined && ownerOf(entries[at]) === owner;
  let start = oldest;
  while (belongs(start - 1)) start -= 1;
  return { start, remaining: anchorBefore(entries, start) };
}

/** The newest message in front of this place that opened a turn; -1 without one. */
const anchorBefore = (entries: readonly ContextEntry[], place: number): number => {
  let at = place - 1;
  for (let entry = entries[at]; entry && !isUndoAnchor(entry.message); entry = entries[at]) at -= 1;
  return at;
};

function ownerOf(entry: ContextEntry | undefined): string | undefined {
  const origin = entry?.message.origin;
  return origin?.kind === 'injection' || origin?.kind === 'hook_result' ? origin.ownerPromptId : undefined;
}

function refusal(atBarrier: boolean, requestedCount: number, undoableCount: number): ServiceError {
  const data = (reason: 'compaction_boundary' | 'empty' | 'insufficient') => ({
    data: { reason, requestedCount, undoableCount },
  });
  const refused = (why: string, reason: Parameters<typeof data>[0]) =>
    new ServiceError('session.undo_unavailable', `Nothing to undo: ${why}`, data(reason));
  if (atBarrier) return refused('would cross a compaction boundary', 'compaction_boundary');
  if (undoableCount === 0) return refused('no user message to undo', 'empty');
  return refused(`only ${undoableCount} of ${requestedCount} requested turn(s) available`, 'insufficient');
}
