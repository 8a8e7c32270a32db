/** Search of a cached tree, yielding cooperatively to other requests. */
import { foldCase } from '#server/files/fold-case.ts';
import { createTimeSlice } from '#server/async/yield.ts';
import { charactersOf, isDirectoryEntry, kindOfEntry, mayContain, SEARCHED, seenOf } from '#server/watches/entries.ts';
import { pathIn, type Directory } from '#server/watches/tree.ts';
import { enterDirectory, startOfPath, type Progress, type Query } from './query.ts';
import type { Ranking } from './ranking.ts';

export interface WarmSearch {
  root: Directory;
  query: Query;
  ranking: Ranking;
  /** Whether an entry of a directory is included and, if it is a directory, entered. */
  admits(directory: string, name: string, isDirectory: boolean): boolean;
  timeoutMs: number;
  signal: AbortSignal;
}

/** Entries between two checks of the clock. */
const PIECE = 256;

/** Offers the tree's entries to the ranking. Resolves to false on a timeout. Rejects with the signal's reason. */
export async function searchWarm({ root, query, ranking, admits, timeoutMs, signal }: WarmSearch): Promise<boolean> {
  const flags = query.parts.map(charactersOf);
  const end = performance.now() + timeoutMs;
  const slice = createTimeSlice();
  const waiting: [Directory, Progress][] = [[root, startOfPath]];
  let piece = PIECE;

  /** Returns the character flags that a hit in a directory needs; undefined when no entry can be a hit. */
  function wanted({ matched }: Progress): number | undefined {
    if (matched === flags.length) return 0;
    return matched === flags.length - 1 ? flags[matched] : undefined;
  }

  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [directory, progress] = next;
    const flag = wanted(progress);
    for (const [name, entry] of directory.entries) {
      if ((piece -= 1) === 0) {
        piece = PIECE;
        if (slice.due()) {
          signal.throwIfAborted();
          if (performance.now() >= end) return false;
          await slice.rest();
        }
      }
      const below = isDirectoryEntry(entry) ? directory.directories?.get(name) : undefined;
      const mayHit = flag !== undefined && mayContain(entry, flag);
      if ((!mayHit && !below) || (seenOf(entry) & SEARCHED) === 0) continue;
      const kind = kindOfEntry(entry);
      if (!admits(directory.path, name, kind === 'directory')) continue;
      if (mayHit) ranking.offer(progress, name, kind, () => pathIn(directory, name));
      if (below) waiting.push([below, enterDirectory(query, progress, foldCase(name))]);
    }
  }
  return true;
}
