const PLAIN = /^[\w.()+[\] -]+$/;

/** What `encodeURIComponent` leaves and RFC 5987 does not allow. */
const percent = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`;

/**
 * The header's value for a file of this name, whatever the name holds: a name of other than plain characters also has
 * a fallback in ASCII for clients that do not know `filename*`.
 */
export function contentDisposition(kind: 'inline' | 'attachment', name: string): string {
  if (PLAIN.test(name)) return `${kind}; filename="${name}"`;
  const fallback = name.replace(/[^\w.()+[\] -]/gu, '_');
  const encoded = encodeURIComponent(name.replace(/\p{Surrogate}/gu, '\uFFFD')).replace(/['()*]/g, percent);
  return `${kind}; filename="${fallback}"; filename*=UTF-8''${encoded}`;
}
