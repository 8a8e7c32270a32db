/**
 * What a search asks for, and how well a path answers it. A query without `/` is looked for in base names; one with `/`
 * in segments, in order and with gaps. Characters match in order, each at the earliest place; case does not count.
 */
import { foldCase } from '#server/files/fold-case.ts';

export interface Query {
  /** In lower case; a query without `/` has one. */
  readonly parts: readonly string[];
  readonly isPath: boolean;
  /** Characters of the parts together. */
  readonly length: number;
}

/** Undefined for an empty query. One of slashes alone has no parts and matches nothing. */
export function parseQuery(text: string): Query | undefined {
  const bare = foldCase(text.replace(/^(?:\.\/+)+/, ''));
  if (bare === '' || bare === '.') return undefined;
  const isPath = bare.includes('/');
  const parts = isPath ? bare.split('/').filter((part) => part !== '' && part !== '.') : [bare];
  return { parts, isPath, length: parts.reduce((sum, part) => sum + part.length, 0) };
}

/** How far the segments of a directory have come in a query with `/`. */
export interface Progress {
  /** Number of segments; 0 of the work directory. */
  readonly depth: number;
  /** Length of the path with its last `/`: where names begin in the paths of entries. */
  readonly start: number;
  /** Parts that were found so far. */
  readonly matched: number;
  /** Where the first character was found; -1 before. */
  readonly first: number;
  /** Where the last one was. */
  readonly last: number;
  /** Every segment so far is the part of its place. */
  readonly equal: boolean;
}

export const startOfPath: Progress = { depth: 0, start: 0, matched: 0, first: -1, last: -1, equal: true };

/** Place of the last character of `part` in `name`, each at the earliest place; -1 when they are not all there. */
function lastOf(part: string, name: string): number {
  let at = -1;
  for (let index = 0; index < part.length; index++) {
    at = name.indexOf(part.charAt(index), at + 1);
    if (at === -1) return -1;
  }
  return at;
}

/** The progress of a directory in the one that `progress` is of. */
export function enterDirectory(query: Query, progress: Progress, lowerName: string): Progress {
  const { depth, start, matched, first, last, equal } = progress;
  const next = { depth: depth + 1, start: start + lowerName.length + 1, matched, first, last, equal: false };
  const part = query.isPath ? query.parts[matched] : undefined;
  const found = part === undefined ? -1 : lastOf(part, lowerName);
  if (part === undefined || found === -1) return next;
  return {
    ...next,
    matched: matched + 1,
    first: first === -1 ? start + lowerName.indexOf(part.charAt(0)) : first,
    last: start + found,
    equal: equal && part === lowerName,
  };
}

/** Equal, a prefix, or merely all characters. */
export type Tier = 1 | 2 | 3;

export interface Match {
  tier: Tier;
  /** From the first character that was found to the last. */
  span: number;
}

/** How an entry of a directory answers the query, if it does. */
export function matchEntry(query: Query, progress: Progress, lowerName: string): Match | undefined {
  const { parts, isPath } = query;
  if (!isPath) {
    const [part = ''] = parts;
    const last = lastOf(part, lowerName);
    if (last === -1) return undefined;
    const span = last - lowerName.indexOf(part.charAt(0)) + 1;
    return { tier: part === lowerName ? 3 : lowerName.startsWith(part) ? 2 : 1, span };
  }
  const { matched, first, last, equal, start } = progress;
  if (parts.length === 0) return undefined;
  if (matched === parts.length) return { tier: 1, span: last - first + 1 };
  const part = parts[matched];
  if (matched < parts.length - 1 || part === undefined) return undefined;
  const found = lastOf(part, lowerName);
  if (found === -1) return undefined;
  const begin = first === -1 ? start + lowerName.indexOf(part.charAt(0)) : first;
  const span = start + found - begin + 1;
  return { tier: equal && part === lowerName ? 3 : lowerName.startsWith(part) ? 2 : 1, span };
}

/** Between 0 and 1. `depth` is the number of segments of the path, `nameLength` that of characters of its last. */
export function scoreOf(query: Query, { tier, span }: Match, depth: number, nameLength: number): number {
  return Math.min(1, (tier + 0.5 / depth + (0.25 * query.length) / nameLength + (0.25 * query.length) / span) / 4);
}

/** Offsets in the path of the characters that were found; the path is one that matches. */
export function positionsIn(query: Query, path: string): number[] {
  const positions: number[] = [];
  const segments = foldCase(path).split('/');
  let start = 0;
  let matched = 0;
  for (const [index, segment] of segments.entries()) {
    const part = query.isPath || index === segments.length - 1 ? query.parts[matched] : undefined;
    if (part !== undefined && lastOf(part, segment) !== -1) {
      let at = -1;
      for (let place = 0; place < part.length; place++) {
        at = segment.indexOf(part.charAt(place), at + 1);
        positions.push(start + at);
      }
      matched += 1;
    }
    start += segment.length + 1;
  }
  return positions;
}
