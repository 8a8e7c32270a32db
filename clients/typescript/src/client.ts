/** The whole client in one object, for the page and for scripts: no DOM, no framework. `README.md` has examples. */
import { createRest, type Rest, type RestOptions } from './rest.ts';
import { createSocket, type Socket, type SocketOptions } from './socket.ts';
import { followTranscripts, type TranscriptFollower, type TranscriptListener } from './transcript-feed.ts';

export interface ClientOptions extends RestOptions, Pick<SocketOptions, 'WebSocket' | 'firstDelayMs' | 'idlePingMs'> {}

export interface Client {
  readonly rest: Rest;
  readonly socket: Socket;
  follow(sessionId: string, listener: TranscriptListener): TranscriptFollower;
  close(): void;
}

/** Connects immediately; `close()` closes the connection and every feed. */
export function createClient(options: ClientOptions): Client {
  const rest = createRest(options);
  const url = new URL('api/v1/ws', options.baseUrl);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = createSocket({ ...options, url: url.href });
  return {
    rest,
    socket,
    follow: (sessionId, listener) => followTranscripts(sessionId, rest, socket, listener),
    close: () => socket.close(),
  };
}
