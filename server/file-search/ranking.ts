/** Bounded selection of the best hits, from any number of entries. */
import { foldCase } from '#server/files/fold-case.ts';
import type { EntryKind } from '#server/watches/changes.ts';
import { matchEntry, positionsIn, scoreOf, type Match, type Progress, type Query } from './query.ts';

/** Order of hits: by score, or by what users expect of a completion. */
export type HitOrder = 'score' | 'completion';

export interface Hit {
  path: string;
  name: string;
  kind: EntryKind;
  score: number;
  match_positions: number[];
}

export interface Hits {
  items: Hit[];
  truncated: boolean;
}

interface Kept {
  /** Lower is better; ties are ordered by path. */
  key: number;
  score: number;
  path: string;
  name: string;
  kind: EntryKind;
}

export interface Ranking {
  /** Adds an entry of a directory if it matches; `path` is evaluated only where needed. */
  offer(progress: Progress, name: string, kind: EntryKind, path: () => string): void;
  hits(): Hits;
}

export interface RankingOptions {
  query: Query;
  limit: number;
  order: HitOrder;
  /** Whether a path may be a hit; called for matching entries only. */
  includes?: ((path: string, isDirectory: boolean) => boolean) | undefined;
}

// Ordered by tier, depth, length of the name, span: no path is longer than 2 ** 16.
const completionKey = ({ tier, span }: Match, depth: number, nameLength: number) =>
  (((3 - tier) * 2 ** 16 + depth) * 2 ** 16 + nameLength) * 2 ** 16 + span;

const isBefore = (a: Pick<Kept, 'key' | 'path'>, b: Pick<Kept, 'key' | 'path'>) =>
  a.key === b.key ? a.path < b.path : a.key < b.key;

export function createRanking({ query, limit, order, includes }: RankingOptions): Ranking {
  const kept: Kept[] = [];
  let seen = 0;

  function insert(hit: Kept): void {
    let low = 0;
    let high = kept.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = kept[middle];
      if (other && isBefore(other, hit)) low = middle + 1;
      else high = middle;
    }
    kept.splice(low, 0, hit);
    if (kept.length > limit) kept.pop();
  }

  return {
    offer(progress, name, kind, pathOf) {
      const match = matchEntry(query, progress, foldCase(name));
      if (!match) return;
      if (includes && !includes(pathOf(), kind === 'directory')) return;
      seen += 1;
      const depth = progress.depth + 1;
      const score = scoreOf(query, match, depth, name.length);
      const key = order === 'score' ? -score : completionKey(match, depth, name.length);
      const worst = kept.length === limit ? kept.at(-1) : undefined;
      if (worst && key > worst.key) return;
      const path = pathOf();
      if (!worst || isBefore({ key, path }, worst)) insert({ key, score, path, name, kind });
    },
    hits: () => ({
      items: kept.map(({ path, name, kind, score }) => ({
        path,
        name,
        kind,
        score,
        match_positions: positionsIn(query, path),
      })),
      truncated: seen > limit,
    }),
  };
}
