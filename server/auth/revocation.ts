/** Ends WebSocket connections that were opened with a token which a rotation has replaced. */
import type { Connections } from '#server/events/peer.ts';
import type { Logger } from '#server/logging/log.ts';
import { createSharedRun } from '#server/shared-run.ts';
import type { Credentials } from './credentials.ts';
import type { TokenFile } from './token.ts';

/** Milliseconds between two checks. With the time that one may take, a connection ends within 5 s. */
const CHECK_MS = 2000;

export interface RevocationDeps {
  token: TokenFile;
  credentials: Credentials;
  connections: Pick<Connections, 'endRefused'>;
  log: Logger;
  checkMs?: number;
}

/** Checks until it is closed. */
export async function createRevocation(deps: RevocationDeps): Promise<{ close(): void }> {
  const { token, credentials, connections, log, checkMs = CHECK_MS } = deps;
  let current = await token.current();
  /** Tokens that are no longer valid, but whose connections stay. */
  const kept = new Set<string>();

  async function check(): Promise<void> {
    const next = await token.current();
    if (next !== current) {
      if (await token.keepsConnections(current, next)) kept.add(current);
      else kept.clear();
      current = next;
    }
    // By the token of this check: one that a rotation replaces meanwhile is the next check's to judge.
    await connections.endRefused(
      async (secret) => secret === current || kept.has(secret) || (await credentials.accepts(secret)),
    );
  }

  const checkOnce = createSharedRun(check);
  const timer = setInterval(() => {
    checkOnce().catch((error: unknown) => log.error('the tokens of connections could not be checked', { err: error }));
  }, checkMs).unref();
  return { close: () => clearInterval(timer) };
}
