/** Stored logins of tests, and the service of their tokens as a server of its own has it. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createOAuthClient, type OAuthClient } from '#server/account/oauth-client.ts';
import { createAccessTokens, type AccessTokens, type AccessTokensDeps } from '#server/account/tokens.ts';
import type { Clock } from '#server/clock.ts';
import { createLogger } from '#server/logging/log.ts';
import { createHttpClient } from '#server/net/http-client.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { leaseHolder } from '../lease-holder.ts';
import { manualClock, type ManualClock } from '../manual-clock.ts';
import type { IssuedToken } from './oauth.ts';

export const tokenPath = (home: string, name: string): string => join(home, 'credentials', `${name}.json`);

/** Writes a token file; `lifeS` seconds are left of its token, by default all. */
export async function storeToken(
  home: string,
  name: string,
  token: IssuedToken,
  { lifeS = token.expires_in, now = Date.now() }: { lifeS?: number; now?: number } = {},
): Promise<void> {
  const path = tokenPath(home, name);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, JSON.stringify({ ...token, expires_at: Math.floor(now / 1000 + lifeS) }), { mode: 0o600 });
}

/** The content of a token file; undefined if it is missing. */
export async function storedToken(home: string, name: string): Promise<Record<string, unknown> | undefined> {
  const text = await readFile(tokenPath(home, name), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Record<string, unknown>);
}

export interface OpenedTokens<Time extends Clock = ManualClock> {
  tokens: AccessTokens;
  oauth: OAuthClient;
  clock: Time;
  /** Lines of the log. */
  lines: string[];
}

type Extra = Partial<Omit<AccessTokensDeps, 'clock'>>;

/** The service on a home. */
export function openTokens(home: string, extra?: Extra): OpenedTokens;
export function openTokens<Time extends Clock>(home: string, extra: Extra & { clock: Time }): OpenedTokens<Time>;
export function openTokens(
  home: string,
  { clock = manualClock(), ...extra }: Extra & { clock?: Clock } = {},
): OpenedTokens<Clock> {
  const lines: string[] = [];
  const { fetch } = createHttpClient();
  const oauth = createOAuthClient({
    fetch,
    clientId: () => 'service-code-local',
    headers: () => ({ 'X-Service-Device-Id': 'device' }),
    noteUse: () => {},
    clock,
  });
  const tokens = createAccessTokens({
    home,
    documents: createDocuments({ home }),
    holder: leaseHolder(),
    oauth,
    env: () => ({}),
    log: createLogger('debug', (line) => void lines.push(line)),
    ...extra,
    clock,
  });
  return { tokens, oauth, clock, lines };
}
