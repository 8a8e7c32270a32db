const PLAIN = /^[\w.()+[\] -]+$/;

/** Maximum length of a file name; parsers of clients limit the length of headers. */
const MAX_CHARS = 255;

/** Encodes characters that `encodeURIComponent` preserves and RFC 5987 does not allow. */
const percent = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

/**
 * The header's value for a file of this name, whatever the name holds: a name of other than plain characters also has
 * a fallback in ASCII for clients that do not know `filename*`.
 */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  const cut = name.slice(0, MAX_CHARS);
  if (PLAIN.test(cut)) return `${kind}; filename="${cut}"`;
  const fallback = cut.replace(/[^\w.()+[\] -]/gu, '_');
  const encoded = encodeURIComponent(cut.replace(/\p{Surrogate}/gu, '\uFFFD')).replace(/['()*]/g, percent);
  return `${kind}; filename="${fallback}"; filename*=UTF-8''${encoded}`;
}
