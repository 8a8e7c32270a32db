/** Missed events of the global stream, such as those of thousands of archived sessions: lists must be read again. */
import { coalesced } from './coalesced.ts';
import type { Socket } from './socket.ts';

/** The stream of events that belong to no session. */
const GLOBAL_STREAM = '__global__';

/**
 * Calls `read` after global events were missed. Coalesced: one read at a time, and notices that arrive during a read
 * share the next one. `read` must not reject. Returns a function that ends it.
 */
export function onGlobalResync(socket: Pick<Socket, 'on'>, read: () => Promise<void>): () => void {
  const readAgain = coalesced(read);
  return socket.on('resync_required', ({ payload }) => {
    if (payload.session_id === GLOBAL_STREAM) void readAgain();
  });
}
