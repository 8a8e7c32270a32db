/** The server's token in the address (`#token=…`), from which it is removed. */

/** Removes a token from the address and returns it. */
export function takeToken(): string | undefined {
  const given = new URLSearchParams(location.hash.replace(/^#/, '')).get('token');
  if (!given) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return given;
}
