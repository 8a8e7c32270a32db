/** State of a session that its transcripts do not convey, for the component that displays it. */
import { followState, type FollowedState, type StateOptions } from './follow-state.ts';
import { useOpenSession } from './session.ts';
import { useWorkbench } from './workbench.ts';

/**
 * Follows a state of the session that the calling component belongs to, until the component is unmounted. Default of
 * `failed`: the page displays the error.
 */
export function useSessionState<T>(
  options: Omit<StateOptions<T>, 'failed'> & Partial<StateOptions<T>>,
): FollowedState<T> {
  return followState(useOpenSession(), { failed: useWorkbench().report, ...options });
}
