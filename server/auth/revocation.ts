/** Closes WebSocket connections that were opened with a token that has been rotated. */
import type { Connections } from '#server/events/peer.ts';
import type { Logger } from '#server/logging/log.ts';
import { coalesced } from '#server/async/coalesce.ts';
import type { Credentials } from './credentials.ts';
import type { TokenFile } from './token.ts';

/** Interval of checks in ms. Together with the duration of one check, connections are closed within 5 s. */
const CHECK_MS = 2000;

export interface RevocationDeps {
  token: TokenFile;
  credentials: Credentials;
  connections: Pick<Connections, 'endRefused'>;
  log: Logger;
  checkMs?: number;
}

/** Checks periodically until it is closed. */
export async function createRevocation(deps: RevocationDeps): Promise<{ close(): void }> {
  const { token, credentials, connections, log, checkMs = CHECK_MS } = deps;
  let current = await token.current();
  /** Rotated tokens whose connections stay open. */
  const kept = new Set<string>();

  async function check(): Promise<void> {
    const next = await token.current();
    if (next !== current) {
      if (await token.keepsConnections(current, next)) kept.add(current);
      else kept.clear();
      current = next;
    }
    // Uses the token of this check; a rotation during the check is handled by the next one.
    await connections.endRefused(
      async (secret) => secret === current || kept.has(secret) || (await credentials.accepts(secret)),
    );
  }

  const checkOnce = coalesced(check);
  const timer = setInterval(() => {
    checkOnce().catch((error: unknown) => log.error('the tokens of connections could not be checked', { err: error }));
  }, checkMs).unref();
  return { close: () => clearInterval(timer) };
}
