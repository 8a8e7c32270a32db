/**
 * The only parser of request targets. The guard, the route table and the upgrade decide on its result: parsed twice, a
 * target can mean one thing to the check and another to what it protects.
 */

export interface RequestTarget {
  /** The path as received, without base path, query, and the authority of the absolute form. Begins with `/`. */
  raw: string;
  /** Percent-decoded as a whole. */
  decoded: string;
  /** Between the slashes, each decoded once: `%2F` and `%3F` stay inside their segment. */
  segments: string[];
  query: string;
  /** The base path that the received path began with. */
  removed?: string;
  /** The path is the base path without the slash at its end; nothing was removed. */
  isBase?: true;
}

const ABSOLUTE_FORM = /^https?:\/\/[^/?#]*/i;

/**
 * Parses the origin form (`/path?query`) and the absolute form (`http://host/path?query`) that proxies send. Undefined
 * for a malformed target: any other form, such as `*`, and a bad percent sequence.
 *
 * `base` is removed once from a path that begins with it and a slash, as written; a proxy has removed it from any other.
 */
export function parseRequestTarget(target: string, base = ''): RequestTarget | undefined {
  const authority = ABSOLUTE_FORM.exec(target)?.[0] ?? '';
  const rest = target.slice(authority.length);
  const mark = rest.indexOf('?');
  const path = mark === -1 ? rest : rest.slice(0, mark);
  const received = path === '' && authority !== '' ? '/' : path;
  const hasBase = base !== '' && received.startsWith(`${base}/`);
  const raw = hasBase ? received.slice(base.length) : received;
  if (!raw.startsWith('/')) return undefined;
  const segments = raw.split('/').slice(1);
  const query = mark === -1 ? '' : rest.slice(mark + 1);
  try {
    return {
      raw,
      decoded: decodeURIComponent(raw),
      segments: segments.map(decodeURIComponent),
      query,
      ...(hasBase ? { removed: base } : {}),
      ...(base !== '' && raw === base && !hasBase ? { isBase: true } : {}),
    };
  } catch {
    return undefined;
  }
}

/** The target in the origin form and without the base path, as handlers see it. */
export const originForm = ({ raw, query }: RequestTarget): string => (query === '' ? raw : `${raw}?${query}`);
