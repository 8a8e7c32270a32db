/** The raw path of a request, split before anything decodes it. */

export interface RequestPath {
  /** Percent-decoded whole, without the query; what the guard compares. */
  decoded: string;
  /** Between the slashes, each decoded once: `%2F` and `%3F` stay inside their segment. */
  segments: string[];
  query: string;
}

const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/** Undefined when a percent sequence is malformed. Takes the absolute form that proxies send, too. */
export function splitRequestPath(target: string): RequestPath | undefined {
  const url = target.startsWith('/') ? target : target.replace(ABSOLUTE_FORM, '');
  const mark = url.indexOf('?');
  const raw = mark === -1 ? url : url.slice(0, mark);
  try {
    const segments = raw.split('/').slice(1);
    const plain = !raw.includes('%');
    return {
      decoded: plain ? raw : decodeURIComponent(raw),
      segments: plain ? segments : segments.map(decodeURIComponent),
      query: mark === -1 ? '' : url.slice(mark + 1),
    };
  } catch {
    return undefined;
  }
}
