/** The `WWW-Authenticate` challenge, by which a server describes its sign-in when it refuses a request. */
import type { Fetch } from '#server/net/http-client.ts';

export interface Challenge {
  /** Address of the protected-resource metadata (RFC 9728). */
  resourceMetadataUrl?: URL;
  scope?: string;
}

/** A harmless request that any server accepts. */
const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

/** Parses the challenge of a refused response. */
export async function challengeOf(response: Response): Promise<Challenge> {
  const { extractWWWAuthenticateParams } = await import('@modelcontextprotocol/client');
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope !== undefined && { scope }) };
}

/**
 * Sends the server a request without a token, by the `fetchHead` of the sign-in. Returns an empty challenge if the
 * server sends none; discovery then derives the metadata from the server's address.
 */
export async function askForChallenge(
  server: { url: URL; transport: 'http' | 'sse'; headers: Record<string, string> },
  fetchHead: Fetch,
): Promise<Challenge> {
  const { url, transport, headers } = server;
  const accept = { accept: 'application/json, text/event-stream' };
  const signal = AbortSignal.timeout(10_000);
  try {
    const response = await fetchHead(
      url,
      transport === 'sse'
        ? { headers: { ...headers, ...accept }, signal }
        : {
            method: 'POST',
            headers: { ...headers, ...accept, 'content-type': 'application/json' },
            body: PING,
            signal,
          },
    );
    return response.status === 401 ? await challengeOf(response) : {};
  } catch {
    // Discovery fails for the same reason, with a better text.
    return {};
  }
}
