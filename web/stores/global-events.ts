/** The events that a state of the server follows. */
import { onGlobalResync, type Socket } from '@service-code/client';
import type { StateEvents } from './follow-state.ts';

/** All events, and missed events of the global stream. */
export const globalEvents = (socket: Pick<Socket, 'on' | 'onEvent'>): StateEvents => ({
  listen({ event, eventsMissed }) {
    const stops = [socket.onEvent(event), onGlobalResync(socket, async () => eventsMissed())];
    return () => {
      for (const stop of stops) stop();
    };
  },
});
