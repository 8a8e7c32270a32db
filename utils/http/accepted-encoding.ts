/** Chooses the content coding of a static asset. Pure. */

/** In the order of preference, with the suffix of the file that the build has compressed. */
export const ENCODINGS = [
  { name: 'br', suffix: '.br' },
  { name: 'gzip', suffix: '.gz' },
] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** A coding with its weight; a malformed weight is 0, so that the plain file is sent. */
function parseEntry(entry: string): [name: string, weight: number] {
  const [name = '', ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase());
  const q = parameters.find((parameter) => parameter.startsWith('q='));
  return [name, q === undefined ? 1 : Number(q.slice(2)) || 0];
}

/** The codings that an `Accept-Encoding` header accepts, the preferred one first; `*` names those that it does not name. */
export function acceptedEncodings(header: string | undefined): readonly Encoding[] {
  if (header === undefined) return [];
  const weights = new Map(header.split(',').map(parseEntry));
  return ENCODINGS.filter(({ name }) => (weights.get(name) ?? weights.get('*') ?? 0) > 0);
}
