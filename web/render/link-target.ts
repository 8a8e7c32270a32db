/** Target of a link in model text: only web pages of other hosts and mail addresses stay links. */

export interface LinkTarget {
  /** Whether it stays a link. Others are drawn as text: an address of this server would open without the token. */
  opens: boolean;
  /** The host, the mail address with its further recipients, or the whole address if it is not a link. */
  shown: string;
}

/** Names of the machine itself, by which the browser reaches the server of the page too. */
const LOOPBACK =
  /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:(?:0:0|7f[\da-f]{2}:[\da-f]{1,4})\])$/;

const parsed = (href: string) => (URL.canParse(href) ? new URL(href) : undefined);
const isWeb = ({ protocol }: URL) => protocol === 'https:' || protocol === 'http:';
/** A name with a dot at its end is the same host. */
const nameOf = ({ hostname }: URL) => hostname.replace(/\.$/, '');
const portOf = ({ port, protocol }: URL) => port || (protocol === 'https:' ? '443' : '80');

function isOwn(url: URL, page: URL): boolean {
  if (url.host === page.host) return true;
  const name = nameOf(url);
  return portOf(url) === portOf(page) && (name === nameOf(page) || LOOPBACK.test(name));
}

/** `href` as Markdown contains it, `page` as in `location.href`. */
export function linkTarget(href: string, page: string): LinkTarget {
  const url = parsed(href);
  if (url?.protocol === 'mailto:') return { opens: true, shown: href.replace(/^mailto:/i, '') };
  return url && isWeb(url) && !isOwn(url, new URL(page))
    ? { opens: true, shown: url.host }
    : { opens: false, shown: href };
}

/** Whether the label is the address, letter by letter, and the first name that is read in it is the host. */
export function namesTarget(label: string, href: string): boolean {
  if (label !== href && `mailto:${label}` !== href && `http://${label}` !== href) return false;
  const url = parsed(href);
  if (!url || !isWeb(url)) return true;
  // User information before the host reads as a host: `https://accounts.test@evil.test/`.
  const start = `${url.protocol}//${url.host}`;
  return href.toLowerCase().startsWith(start) && /^(?:[/?#]|$)/.test(href.slice(start.length));
}

/** Whether an address that the server passes on may be opened: a web page, of any host. */
export function isWebAddress(text: string): boolean {
  const url = parsed(text);
  return url !== undefined && isWeb(url);
}
