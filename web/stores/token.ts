/** The server's token: arrives in the address (`#token=…`), is stored for the tab, leaves the address bar. */

const KEY = 'service-code.token';

/** Moves a token from the address to the tab's storage and returns it. */
export function takeToken(): string | undefined {
  const given = new URLSearchParams(location.hash.replace(/^#/, '')).get('token');
  if (!given) return undefined;
  saveToken(given);
  history.replaceState(null, '', location.pathname + location.search);
  return given;
}

/** The path in the key separates two servers of one origin. */
export const storedToken = (): string | undefined => sessionStorage.getItem(KEY + location.pathname) ?? undefined;

export function saveToken(token: string): void {
  sessionStorage.setItem(KEY + location.pathname, token);
}
