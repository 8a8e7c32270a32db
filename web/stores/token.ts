/** The server's token: it arrives in the address (`#token=…`), lives in the tab, and leaves the address bar at once. */

const KEY = 'service-code.token';

/** Takes the token from the address or the tab's storage. Two servers on one origin keep theirs apart by path. */
export function readToken(): string | undefined {
  const given = new URLSearchParams(location.hash.replace(/^#/, '')).get('token');
  if (given) {
    saveToken(given);
    history.replaceState(null, '', location.pathname + location.search);
  }
  return sessionStorage.getItem(KEY + location.pathname) ?? undefined;
}

export function saveToken(token: string): void {
  sessionStorage.setItem(KEY + location.pathname, token);
}
