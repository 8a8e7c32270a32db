/** State of the server that belongs to no session, for the component that displays it. */
import { followState, type FollowedState, type StateOptions } from './follow-state.ts';
import { globalEvents } from './global-events.ts';
import { useWorkbench } from './workbench.ts';

/**
 * Follows a state of the server until the component is unmounted. It is read while there is a connection, since requests
 * with a refused token count towards a ban, and again after a reconnect. Default of `failed`: the page displays the error.
 */
export function useGlobalState<T>({
  active = () => true,
  ...options
}: Omit<StateOptions<T>, 'failed'> & Partial<StateOptions<T>>): FollowedState<T> {
  const { client, connection, report } = useWorkbench();
  return followState(globalEvents(client.socket), {
    failed: report,
    ...options,
    active: () => connection.value.kind === 'open' && active(),
  });
}
