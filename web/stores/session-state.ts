/** State of a session that its transcripts do not convey, for the component that displays it. */
import { followState, type SessionState, type SessionStateOptions } from './follow-state.ts';
import { useOpenSession } from './session.ts';
import { useWorkbench } from './workbench.ts';

/**
 * Follows a state of the session that the calling component belongs to, until the component is unmounted. Default of
 * `failed`: the page displays the error.
 */
export function useSessionState<T>(
  options: Omit<SessionStateOptions<T>, 'failed'> & Partial<SessionStateOptions<T>>,
): SessionState<T> {
  return followState(useOpenSession(), { failed: useWorkbench().report, ...options });
}
