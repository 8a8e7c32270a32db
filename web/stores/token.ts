/** The token that the page starts with: from its address (`#token=…`), from the browser's storage, or from another tab. */
import { pageRoot, scopedName } from './page-root.ts';
import { requestToken } from './token-share.ts';
import { createTokenStore, type TokenStore } from './token-store.ts';

/** Removes a token from the address and returns it. */
export function takeToken(): string | undefined {
  const given = new URLSearchParams(location.hash.replace(/^#/, '')).get('token');
  if (!given) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return given;
}

export const openTokenChannel = (): BroadcastChannel => new BroadcastChannel(scopedName('token'));

/** Resolves before the page connects, because every request without the token counts towards a ban. */
export async function startTokens(): Promise<TokenStore> {
  const tokens = createTokenStore(pageRoot().base, { tab: sessionStorage, device: localStorage });
  const given = takeToken();
  if (given !== undefined) tokens.saveUntested(given);
  if (tokens.read() !== undefined) return tokens;
  const channel = openTokenChannel();
  const shared = await requestToken(channel);
  channel.close();
  if (shared !== undefined) tokens.saveUntested(shared);
  return tokens;
}
