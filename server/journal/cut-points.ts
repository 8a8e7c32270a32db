/** The messages at which an undo may cut an agent's history; transcripts and search remove what was recorded from there. */
import type { ContextMessage } from '#schema/engine.ts';
import { isUndoAnchor } from './projections/context.ts';
import type { Stored } from './texts.ts';

export interface CutPoint {
  /** The message's index in the agent's context. */
  index: number;
  /** Number of the first record that an undo to this message removes. */
  at: number;
}

type Message = Pick<Stored<ContextMessage>, 'role' | 'origin'>;

/** Added for a prompt of the user that the message belongs to: an undo that removes the prompt removes it too. */
const isOwned = ({ origin }: Message) =>
  (origin?.kind === 'injection' || origin?.kind === 'hook_result') && origin.ownerPromptId !== undefined;

/**
 * Returns the cut points among messages that a splice adds at index `start`; `at` is the number of its record, or of
 * the start of the turn that they open. `isAnchor` is false for messages that only belong to a prompt.
 */
export function cutPointsOf(
  messages: readonly Message[],
  start: number,
  at: number,
): (CutPoint & { isAnchor: boolean })[] {
  return messages.flatMap((message, offset) => {
    const isAnchor = isUndoAnchor(message);
    return isAnchor || isOwned(message) ? [{ index: start + offset, at, isAnchor }] : [];
  });
}

/**
 * Applies an undo that removes the context from index `start`. Everything recorded from number `cut` on goes; infinite
 * if there is no cut point.
 */
export function cutFrom<Point extends CutPoint>(
  points: readonly Point[],
  start: number,
): { kept: Point[]; removed: Point[]; cut: number } {
  const removed = points.filter(({ index }) => index >= start);
  return {
    kept: points.slice(0, points.length - removed.length),
    removed,
    cut: Math.min(...removed.map(({ at }) => at)),
  };
}
