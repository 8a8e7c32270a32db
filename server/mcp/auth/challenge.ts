/** What a server says of its sign-in when it refuses a request, and nowhere else. */
import type { Fetch } from '#server/net/http-client.ts';

export interface Challenge {
  /** Where it describes its sign-in. */
  resourceMetadataUrl?: URL;
  scope?: string;
}

/** What may be asked of any server: nothing comes of it. */
const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

/** Of a refused answer. */
export async function challengeOf(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
}

/** Asks the server without a token. A server that says nothing has no challenge; its address is tried all the same. */
export async function askForChallenge(
  server: { url: URL; transport: 'http' | 'sse'; headers: Record<string, string> },
  fetch: Fetch,
  ended: AbortSignal,
): Promise<Challenge> {
  const { url, transport, headers } = server;
  const accept = { accept: 'application/json, text/event-stream' };
  // A stream that opens is of no use.
  const done = new AbortController();
  const signal = AbortSignal.any([ended, done.signal, AbortSignal.timeout(10_000)]);
  try {
    const response = await fetch(
      url,
      transport === 'sse'
        ? { headers: { ...headers, ...accept }, redirect: 'manual', signal }
        : {
            method: 'POST',
            headers: { ...headers, ...accept, 'content-type': 'application/json' },
            body: PING,
            redirect: 'manual',
            signal,
          },
    );
    return response.status === 401 ? await challengeOf(response) : {};
  } catch {
    // Discovery fails for the same reason, with a better text.
    return {};
  } finally {
    done.abort();
  }
}
