/** Lists the entries of one directory: filtered, sorted, truncated. */
import type { TimeSlice } from '#server/async/yield.ts';
import { compareNames } from '#server/files/compare-names.ts';
import type { EntryGlobs } from '#server/files/entry-globs.ts';
import type { DirectoryRules } from '#server/ignore-rules/ignore-rules.ts';
import type { OpenPath } from '#server/files/open-within.ts';
import type { RelativePath } from '#server/files/work-directory.ts';
import type { FileEntry } from '#schema/rest/file-entry.ts';
import type { ListFiles } from '#schema/rest/file-list.ts';
import { createBest } from './best.ts';
import { fileEntry, kindOf } from './entry.ts';
import { factsOf, readDirectory, type DirectoryEntry, type EntryStats } from './directory-reader.ts';

export interface ListOptions extends Pick<ListFiles, 'limit' | 'sort'> {
  showHidden: boolean;
  /** Awaited after reading has started. Undefined: no entry is ignored. */
  rules: Promise<DirectoryRules> | undefined;
  exclude: EntryGlobs | undefined;
  allowIgnored: EntryGlobs | undefined;
  /** Shared by the whole request. */
  slice: TimeSlice;
  signal: AbortSignal;
}

export interface DirectoryList {
  entries: FileEntry[];
  truncated: boolean;
}

const orders: Record<ListFiles['sort'], (a: DirectoryEntry, b: DirectoryEntry) => number> = {
  type_first: (a, b) => Number(b.isDirectory) - Number(a.isDirectory) || compareNames(a.name, b.name),
  name_asc: (a, b) => compareNames(a.name, b.name),
  name_desc: (a, b) => compareNames(b.name, a.name),
  mtime_desc: (a, b) => (b.facts?.mtimeMs ?? 0) - (a.facts?.mtimeMs ?? 0) || compareNames(a.name, b.name),
  size_desc: (a, b) => sizeOf(b) - sizeOf(a) || compareNames(a.name, b.name),
};

/** Directories and links are treated as empty. */
const sizeOf = ({ facts }: DirectoryEntry) => (facts && kindOf(facts) === 'file' ? facts.size : 0);

/** Returns the path of an entry for replies. */
const below = (directory: RelativePath, name: string) => (directory === '.' ? name : `${directory}/${name}`);

async function createFilter(directory: RelativePath, options: ListOptions) {
  const { showHidden, exclude, allowIgnored } = options;
  const rules = await options.rules;
  function ignored(name: string, path: string, isDirectory: boolean): boolean {
    if (!rules?.isIgnored(name, isDirectory)) return false;
    if (name === '.git' || !allowIgnored) return true;
    return !allowIgnored.matches(path, isDirectory) && !(isDirectory && allowIgnored.reachBelow(path));
  }
  return ({ name, isDirectory }: DirectoryEntry): boolean => {
    if (!showHidden && name.startsWith('.')) return false;
    const path = below(directory, name);
    return !ignored(name, path, isDirectory) && !exclude?.matches(path, isDirectory);
  };
}

/** Returns how many entries are read with facts; for the others only those of the selected entries are read. */
export const wantedFacts = ({ limit, sort }: Pick<ListOptions, 'limit' | 'sort'>): number =>
  sort === 'mtime_desc' || sort === 'size_desc' ? Infinity : limit;

/**
 * Filters, sorts and truncates the entries of a directory, reported as `directory`. `readFacts` reads missing facts,
 * undefined for vanished entries. Retains only the best entries of a large directory, and yields cooperatively to other
 * requests.
 */
export async function listEntries(
  portions: Iterable<DirectoryEntry[]> | AsyncIterable<DirectoryEntry[]>,
  directory: RelativePath,
  options: ListOptions,
  readFacts: (names: string[]) => Promise<(EntryStats | undefined)[]>,
): Promise<DirectoryList> {
  const { limit, sort, slice, signal } = options;
  const best = createBest<DirectoryEntry>(limit, orders[sort]);
  const filter = createFilter(directory, options);
  // `filter` is awaited only in the loop: an earlier rejection must not be unhandled.
  filter.catch(() => undefined);
  for await (const entries of portions) {
    const passes = await filter;
    // Presorting by code unit, which is close to the final order, saves most of the slow locale comparisons.
    if (wantedFacts(options) === limit) entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (passes(entry)) best.add(entry);
      if (!slice.due()) continue;
      signal.throwIfAborted();
      await slice.rest();
    }
  }
  const chosen = best.items();
  const unknown = chosen.filter(({ facts }) => facts === undefined);
  const found = await readFacts(unknown.map(({ name }) => name));
  for (const [index, candidate] of unknown.entries()) candidate.facts = found[index];
  const entries = chosen.flatMap(({ name, facts }) => (facts ? [fileEntry(below(directory, name), name, facts)] : []));
  return { entries, truncated: best.seen > limit };
}

/** Lists an opened directory in the same way. Rejects with the system's errors. */
export async function listDirectory(
  place: OpenPath,
  directory: RelativePath,
  options: ListOptions,
): Promise<DirectoryList> {
  const portions = readDirectory(place, wantedFacts(options));
  const list = await listEntries(portions, directory, options, (names) => factsOf(place, names));
  await place.confirm();
  return list;
}
