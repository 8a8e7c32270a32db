/** The entries of one directory: filtered, in order, cut. */
import { readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createPace } from '#server/breathe.ts';
import { compareNames } from '#server/files/compare-names.ts';
import type { EntryGlobs } from '#server/files/entry-globs.ts';
import type { DirectoryRules } from '#server/files/ignore-rules.ts';
import { inBatches } from '#server/files/in-batches.ts';
import type { Place } from '#server/files/open-within.ts';
import type { RelativePath } from '#server/files/work-directory.ts';
import type { FileEntry } from '#schema/file-entry.ts';
import type { ListFiles } from '#schema/file-list.ts';
import { createBest } from './best.ts';
import { fileEntry, kindOf } from './entry.ts';
import { factsOf, readDirectory, type DirectoryEntry } from './directory-reader.ts';

const LINKS_WIDTH = 16;

export interface ListOptions extends Pick<ListFiles, 'limit' | 'sort'> {
  showHidden: boolean;
  /** Waited for once the directory is being read. Absent: nothing is ignored. */
  rules: Promise<DirectoryRules> | undefined;
  exclude: EntryGlobs | undefined;
  allowIgnored: EntryGlobs | undefined;
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

/** The chosen candidates as they are shown; those that have vanished since are left out. */
async function entriesOf(
  place: Place,
  directory: RelativePath,
  chosen: readonly DirectoryEntry[],
): Promise<FileEntry[]> {
  const unknown = chosen.filter(({ facts }) => facts === undefined);
  const found = await factsOf(
    place,
    unknown.map(({ name }) => name),
  );
  for (const [index, candidate] of unknown.entries()) candidate.facts = found[index];
  const links = await inBatches(
    chosen.filter(({ facts }) => facts && kindOf(facts) === 'symlink'),
    LINKS_WIDTH,
    async ({ name }) => [name, await readlink(join(place.at, name)).catch(() => '')] as const,
  );
  const texts = new Map(links);
  const entries: FileEntry[] = [];
  for (const { name, facts } of chosen) {
    if (facts) entries.push(fileEntry(below(directory, name), name, facts, texts.get(name)));
  }
  return entries;
}

/**
 * The entries of an opened directory, which is shown as `directory`. Of a large one only the wanted entries are kept, and
 * others get their turn while it is read. Rejects with the system's errors.
 */
export async function listDirectory(
  place: Place,
  directory: RelativePath,
  options: ListOptions,
): Promise<DirectoryList> {
  const { limit, sort, signal } = options;
  const byFacts = sort === 'mtime_desc' || sort === 'size_desc';
  const best = createBest<DirectoryEntry>(limit, orders[sort]);
  const filter = createFilter(directory, options);
  // It is waited for while the directory is read; until then nobody else would notice.
  filter.catch(() => undefined);
  const pace = createPace();
  // Of those beyond the limit, only the chosen ones are asked about, at the end.
  for await (const entries of readDirectory(place, byFacts ? Infinity : limit)) {
    const passes = await filter;
    // From an order that is close to it, that of people is found with a fraction of the comparisons, which are slow.
    if (!byFacts) entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (passes(entry)) best.add(entry);
      if (!pace.due()) continue;
      signal.throwIfAborted();
      await pace.rest();
    }
  }
  const entries = await entriesOf(place, directory, best.items());
  await place.confirm();
  return { entries, truncated: best.seen > limit };
}
