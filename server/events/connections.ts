/** The open WebSockets of this server. So far it accepts, lists and closes them. */
import { newUlid } from '../ids.ts';
import type { Connection } from '../schema/connection.ts';
import { iso } from '../schema/scalars.ts';
import type { Connections, Peer } from './types.ts';

export function createConnections(): Connections {
  const open = new Map<Peer, Connection>();
  return {
    open(peer, { remoteAddress, userAgent }) {
      open.set(peer, {
        id: newUlid(),
        connected_at: iso(Date.now()),
        remote_address: remoteAddress,
        user_agent: userAgent,
        has_client_hello: false,
        subscriptions: [],
      });
      return { message() {}, closed: () => void open.delete(peer) };
    },
    list: () => [...open.values()],
    async close() {
      for (const peer of open.keys()) peer.close(1001, 'server shutting down');
    },
  };
}
