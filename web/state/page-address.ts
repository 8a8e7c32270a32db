/** The address of the page: the path of its root, a session in the path, and whether it came through a relay. */

export interface PageAddress {
  /** Path that the page's addresses and requests are relative to; begins and ends with a slash. */
  base: string;
  /** Whether a relay between the browser and the server serves the page. */
  viaRelay: boolean;
}

/** Query parameter that a relay adds to the page's address; it stays there while the page is open. */
const RELAY_PARAMETER = 'rc';

/**
 * Reads the page's address. `declared` is the content of `<meta name="service-base">`; a server that serves the sources
 * of the page does not declare it, and the folder of the page is used.
 */
export function pageAddress(href: string, declared: string | undefined): PageAddress {
  const url = new URL(href);
  const { pathname } = new URL(declared ?? '.', url);
  return {
    base: pathname.endsWith('/') ? pathname : `${pathname}/`,
    viaRelay: url.searchParams.get(RELAY_PARAMETER) === '1',
  };
}

/**
 * The address in hash form of a page that was opened at `<base>sessions/<id>`, with its query; undefined for other
 * paths. A session in the hash takes precedence.
 */
export function sessionHashAddress(href: string, base: string): string | undefined {
  const { pathname, search, hash } = new URL(href);
  if (!pathname.startsWith(`${base}sessions/`)) return undefined;
  const [, id] = /^([^/]+)\/?$/.exec(pathname.slice(`${base}sessions/`.length)) ?? [];
  if (id === undefined) return undefined;
  return `${base}${search}${hash.startsWith('#/') ? hash : `#/s/${id}`}`;
}
