/** Determines where an undo cuts a conversation. */
import { ServiceError } from '#server/errors/service-error.ts';
import { isUndoAnchor, type ContextEntry, type ContextState } from '#server/journal/projections/context.ts';

/** Indices into the entries of a context. */
export interface Cut {
  /** The oldest removed message: one that opened a turn, or a message that a hook added before it. */
  start: number;
  /** The newest remaining message that opened a turn; -1 if there is none. */
  remaining: number;
}

/**
 * Cuts before the last `count` messages of the user, including the messages directly before the oldest of them that
 * belong to it. Messages up to the last compaction cannot be removed. Throws `session.undo_unavailable` with the number
 * of turns that could be undone.
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

/** Returns the index of the newest message before `place` that opened a turn; -1 if there is none. */
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
