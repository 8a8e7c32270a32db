/** The server's token: it arrives in the address (`#token=…`), lives in the tab, and leaves the address bar at once. */

const KEY = 'service-code.token';

/** Moves a token from the address to the tab's storage and returns it. */
export function takeToken(): string | undefined {
  const given = new URLSearchParams(location.hash.replace(/^#/, '')).get('token');
  if (!given) return undefined;
  saveToken(given);
  history.replaceState(null, '', location.pathname + location.search);
  return given;
}

/** Two servers behind one origin are kept apart by their paths. */
export const storedToken = (): string | undefined => sessionStorage.getItem(KEY + location.pathname) ?? undefined;

export function saveToken(token: string): void {
  sessionStorage.setItem(KEY + location.pathname, token);
}
