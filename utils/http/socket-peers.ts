/** Makes a `Peer` of `app.connections` of each WebSocket that crossws accepted. */
import { Duplex } from 'node:stream';
import type { Hooks, Peer as Socketed } from 'crossws';
import type { App } from '#server/app/app.ts';
import { offeredSecret } from '#server/auth/guard.ts';
import type { Peer, PeerHandle } from '#server/events/peer.ts';
import { assignedClient, rulesOf } from './connection-rules.ts';

/** Bytes handed to `send` are text already encoded. */
const TEXT_FRAME = { binary: false, compress: false };

interface Pausable {
  pause(): void;
  resume(): void;
}
const isPausable = (socket: object): socket is Pausable =>
  'pause' in socket && typeof socket.pause === 'function' && 'resume' in socket && typeof socket.resume === 'function';

/** The connection of a WebSocket. */
function connectionOf(websocket: object): Duplex | undefined {
  const connection = '_socket' in websocket ? websocket._socket : undefined;
  return connection instanceof Duplex ? connection : undefined;
}

/** Lets all frames that are sent in one turn of the event loop leave in one write for each connection. */
function createCorks(): (websocket: object) => void {
  const corked = new Set<Duplex>();
  function uncork(): void {
    for (const connection of corked) connection.uncork();
    corked.clear();
  }
  return (websocket) => {
    const connection = connectionOf(websocket);
    if (!connection || corked.has(connection)) return;
    if (corked.size === 0) setImmediate(uncork);
    connection.cork();
    corked.add(connection);
  };
}

function wrap(socketed: Socketed, cork: (websocket: object) => void): Peer {
  const { websocket } = socketed;
  return {
    send(data) {
      cork(websocket);
      socketed.send(data, TEXT_FRAME);
    },
    close: (code, reason) => socketed.close(code, reason),
    terminate: () => socketed.terminate(),
    bufferedAmount: () => websocket.bufferedAmount ?? 0,
    pause: () => void (isPausable(websocket) && websocket.pause()),
    resume: () => void (isPausable(websocket) && websocket.resume()),
  };
}

/** Hooks that hand every accepted socket to `app.connections`. */
export function peerHooks(
  app: App,
  clientAddress = ({ remoteAddress }: Socketed): string | undefined => remoteAddress,
): Partial<Hooks> {
  const handles = new WeakMap<Socketed, PeerHandle>();
  const cork = createCorks();
  return {
    open(socketed) {
      const { headers } = socketed.request;
      const secret = offeredSecret({
        authorization: headers.get('authorization') ?? undefined,
        protocols: headers.get('sec-websocket-protocol') ?? undefined,
      });
      const socket = connectionOf(socketed.websocket) ?? socketed;
      const { facts: connection } = rulesOf(app, socket);
      const remoteAddress = assignedClient(socket)?.address ?? clientAddress(socketed) ?? null;
      const facts = {
        connection,
        remoteAddress,
        userAgent: headers.get('user-agent'),
        secret: secret ?? null,
      };
      handles.set(socketed, app.connections.open(wrap(socketed, cork), facts));
    },
    message(socketed, message) {
      handles.get(socketed)?.message(message.uint8Array());
    },
    close(socketed) {
      handles.get(socketed)?.closed();
      handles.delete(socketed);
    },
    error(_socketed, error) {
      // `close` follows; the socket's own failure (a reset, a bad frame) is the client's affair.
      app.log.debug('websocket error', { err: error });
    },
  };
}
