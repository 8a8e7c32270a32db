/** Detects the end of the first turn of a session. */
import { MAIN_AGENT, type EventFrame, type TranscriptState } from '@service-code/client';
import type { StateListener } from '../../stores/follow-state.ts';

/** The members of an open session that are needed here. */
interface FollowedSession {
  readonly view: {
    readonly value: { session: { main_turn_active: boolean } | undefined; main: Turns };
  };
  listen(listener: StateListener): () => void;
}
type Turns = Pick<TranscriptState, 'items' | 'hasMoreOlder'>;

const hasOneTurn = ({ items, hasMoreOlder }: Turns): boolean =>
  !hasMoreOlder && items.filter(({ kind }) => kind === 'turn').length === 1;

const watched = new WeakSet<FollowedSession>();

/**
 * Calls `generate` when the first turn of the session has completed, while it is followed. A turn that ended before is
 * none. Later calls for the same session have no effect.
 */
export function generateAfterFirstTurn(session: FollowedSession, generate: () => Promise<void>): void {
  if (watched.has(session)) return;
  watched.add(session);
  let wasRunning = session.view.value.session?.main_turn_active === true;

  function event(frame: EventFrame): void {
    if (frame.type !== 'event.session.work_changed' || frame.payload.agentId !== MAIN_AGENT) return;
    const { main_turn_active: isRunning, last_turn_reason: reason } = frame.payload;
    if (wasRunning && !isRunning && reason === 'completed' && hasOneTurn(session.view.value.main)) void generate();
    wasRunning = isRunning;
  }
  // The listener is released with the session.
  session.listen({ event, eventsMissed: () => undefined });
}
