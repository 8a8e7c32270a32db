/** The drawn conversation of each session, for the commands that move in it. */
import type { OpenSession } from '../stores/session.ts';

/** Moves to the turn after the one that is read, or to the one before. */
type MoveTurn = (by: 1 | -1) => void;

const moves = new WeakMap<OpenSession, MoveTurn>();

/** Until the returned function is called. */
export function registerTurnMove(session: OpenSession, move: MoveTurn): () => void {
  moves.set(session, move);
  return () => {
    if (moves.get(session) === move) moves.delete(session);
  };
}

/** Does nothing while the conversation is not drawn. */
export const moveTurn = (session: OpenSession | undefined, by: 1 | -1): void => {
  if (session) moves.get(session)?.(by);
};
