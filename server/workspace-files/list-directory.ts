/** The entries of one directory: filtered, in order, cut. */
import type { Pace } from '#server/breathe.ts';
import { compareNames } from '#server/files/compare-names.ts';
import type { EntryGlobs } from '#server/files/entry-globs.ts';
import type { DirectoryRules } from '#server/files/ignore-rules.ts';
import type { Place } from '#server/files/open-within.ts';
import type { RelativePath } from '#server/files/work-directory.ts';
import type { FileEntry } from '#schema/file-entry.ts';
import type { ListFiles } from '#schema/file-list.ts';
import { createBest } from './best.ts';
import { fileEntry, kindOf } from './entry.ts';
import { factsOf, readDirectory, type DirectoryEntry, type EntryFacts } from './directory-reader.ts';

export interface ListOptions extends Pick<ListFiles, 'limit' | 'sort'> {
  showHidden: boolean;
  /** Waited for once the directory is being read. Absent: nothing is ignored. */
  rules: Promise<DirectoryRules> | undefined;
  exclude: EntryGlobs | undefined;
  allowIgnored: EntryGlobs | undefined;
  /** Of the whole request. */
  pace: Pace;
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

/** Directories and links count nothing. */
const sizeOf = ({ facts }: DirectoryEntry) => (facts && kindOf(facts) === 'file' ? facts.size : 0);

/** The path of an entry, as it is shown. */
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

/** How many entries of a directory are read with their facts; those beyond are requested only for the chosen ones. */
export const wantedFacts = ({ limit, sort }: Pick<ListOptions, 'limit' | 'sort'>): number =>
  sort === 'mtime_desc' || sort === 'size_desc' ? Infinity : limit;

/**
 * Filters, orders and cuts the entries of a directory, which is shown as `directory`. Entries without facts get them by
 * `readFacts`, undefined for those that have vanished. Only the wanted entries of a large directory are retained, and
 * others get their turn meanwhile.
 */
export async function listEntries(
  portions: Iterable<DirectoryEntry[]> | AsyncIterable<DirectoryEntry[]>,
  directory: RelativePath,
  options: ListOptions,
  readFacts: (names: string[]) => Promise<(EntryFacts | undefined)[]>,
): Promise<DirectoryList> {
  const { limit, sort, pace, signal } = options;
  const best = createBest<DirectoryEntry>(limit, orders[sort]);
  const filter = createFilter(directory, options);
  // It is waited for while the directory is read; until then nobody else would notice.
  filter.catch(() => undefined);
  for await (const entries of portions) {
    const passes = await filter;
    // From an order that is close to it, that of people is found with a fraction of the comparisons, which are slow.
    if (wantedFacts(options) === limit) entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (passes(entry)) best.add(entry);
      if (!pace.due()) continue;
      signal.throwIfAborted();
      await pace.rest();
    }
  }
  const chosen = best.items();
  const unknown = chosen.filter(({ facts }) => facts === undefined);
  const found = await readFacts(unknown.map(({ name }) => name));
  for (const [index, candidate] of unknown.entries()) candidate.facts = found[index];
  const entries = chosen.flatMap(({ name, facts }) => (facts ? [fileEntry(below(directory, name), name, facts)] : []));
  return { entries, truncated: best.seen > limit };
}

/** The same for an opened directory. Rejects with the system's errors. */
export async function listDirectory(
  place: Place,
  directory: RelativePath,
  options: ListOptions,
): Promise<DirectoryList> {
  const portions = readDirectory(place, wantedFacts(options));
  const list = await listEntries(portions, directory, options, (names) => factsOf(place, names));
  await place.confirm();
  return list;
}
