/** The connection to the server, and which server it is. */
import { createClient, createSignal, type Client, type ClientOptions } from '@service-code/client';
import { internal } from './errors.ts';

/** A prompt waits this long for a connection; running prompts fail when it was lost for as long. */
const LOST_MS = 30_000;
const FIRST_DELAY_MS = 250;

export interface ServerLink {
  /** Address of the page. */
  readonly url: string;
  readonly client: Client;
  /** Resolves when the connection is open; rejects after 30 s, and with the signal's reason. */
  ready(signal?: AbortSignal): Promise<void>;
  /** Id of the connected server, which another one on the same address does not share. */
  serverId(): Promise<string>;
  /** Calls the listener when the connection was lost for 30 s, until the returned function is called. */
  onLost(listener: () => void): () => void;
  close(): void;
}

export interface ServerLinkOptions extends Pick<ClientOptions, 'fetch' | 'WebSocket'> {
  url: string;
  token: string;
}

export function createServerLink(options: ServerLinkOptions): ServerLink {
  const url = options.url.endsWith('/') ? options.url : `${options.url}/`;
  const { token, fetch, WebSocket } = options;
  const client = createClient({
    baseUrl: url,
    token: () => token,
    WebSocket,
    firstDelayMs: FIRST_DELAY_MS,
    ...(fetch && { fetch }),
  });
  const { socket, rest } = client;
  const lost = createSignal<undefined>();
  let id: Promise<string> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  socket.onConnection(({ kind }) => {
    id = undefined;
    if (kind === 'open' || kind === 'closed') {
      clearTimeout(timer);
      timer = undefined;
    } else timer ??= setTimeout(() => lost.emit(undefined), LOST_MS);
  });

  async function readId(): Promise<string> {
    try {
      return (await rest.meta()).server_id;
    } catch (error) {
      id = undefined;
      throw error;
    }
  }

  return {
    url,
    client,
    async ready(signal) {
      if (socket.connection.kind === 'open') return;
      socket.probe();
      await new Promise<void>((resolve, reject) => {
        const stop = socket.onConnection(({ kind }) => kind === 'open' && end(resolve));
        const timeout = setTimeout(() => end(() => reject(internal('The server does not answer'))), LOST_MS);
        const onAbort = () => end(() => reject(signal?.reason));
        signal?.addEventListener('abort', onAbort);
        function end(settle: () => void) {
          stop();
          clearTimeout(timeout);
          signal?.removeEventListener('abort', onAbort);
          settle();
        }
      });
    },
    serverId: () => (id ??= readId()),
    onLost: lost.listen,
    close() {
      clearTimeout(timer);
      client.close();
    },
  };
}
