/**
 * Matches paths against a query and scores them. A query without `/` is matched against base names; one with `/`
 * against segments, in order and with gaps. Characters match in order, each at its first occurrence; case is ignored.
 */
import { foldCase } from '#server/files/fold-case.ts';

export interface Query {
  /** In lower case; a query without `/` has one part. */
  readonly parts: readonly string[];
  readonly isPath: boolean;
  /** Total number of characters of the parts. */
  readonly length: number;
}

/** Parses a query; undefined if it is empty. A query of slashes only has no parts and matches no path. */
export function parseQuery(text: string): Query | undefined {
  const bare = foldCase(text.replace(/^(?:\.\/+)+/, ''));
  if (bare === '' || bare === '.') return undefined;
  const isPath = bare.includes('/');
  const parts = isPath ? bare.split('/').filter((part) => part !== '' && part !== '.') : [bare];
  return { parts, isPath, length: parts.reduce((sum, part) => sum + part.length, 0) };
}

/** Matching state of a directory: how many parts of a query with `/` its segments have matched. */
export interface Progress {
  /** Number of segments; 0 for the work directory. */
  readonly depth: number;
  /** Length of the path including its last `/`: the offset of names in the paths of entries. */
  readonly start: number;
  /** Number of matched parts. */
  readonly matched: number;
  /** Offset of the first matched character; -1 before. */
  readonly first: number;
  /** Offset of the last matched character. */
  readonly last: number;
  /** Whether every segment so far equals the part of the same index. */
  readonly equal: boolean;
}

export const startOfPath: Progress = { depth: 0, start: 0, matched: 0, first: -1, last: -1, equal: true };

/** Index of the last character of `part` in `name`, each at its first occurrence; -1 if one is missing. */
function lastOf(part: string, name: string): number {
  let at = -1;
  for (let index = 0; index < part.length; index++) {
    at = name.indexOf(part.charAt(index), at + 1);
    if (at === -1) return -1;
  }
  return at;
}

/** Returns the progress of a subdirectory of the directory of `progress`. */
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

/** 3: equal, 2: prefix, 1: all characters. */
export type Tier = 1 | 2 | 3;

export interface Match {
  tier: Tier;
  /** Distance from the first matched character to the last. */
  span: number;
}

/** Matches an entry of a directory; undefined without a match. */
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

/** Between 0 and 1. `depth`: number of segments of the path; `nameLength`: length of its last segment. */
export function scoreOf(query: Query, { tier, span }: Match, depth: number, nameLength: number): number {
  return Math.min(1, (tier + 0.5 / depth + (0.25 * query.length) / nameLength + (0.25 * query.length) / span) / 4);
}

/** Returns the offsets of the matched characters in the path, which must match. */
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
