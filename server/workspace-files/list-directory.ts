/** The entries of one directory: filtered, in order, cut. */
import { lstat, type Dirent, type Stats } from 'node:fs';
import { opendir, readlink } from 'node:fs/promises';
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
import { fileEntry } from './entry.ts';

/** Entries that the system hands over at once. */
const READ_AHEAD = 512;
/** Entries whose facts are asked side by side. */
const WIDTH = 128;
const LINKS_WIDTH = 16;

export interface ListOptions extends Pick<ListFiles, 'limit' | 'sort'> {
  showHidden: boolean;
  /** Absent: nothing is ignored. */
  rules: DirectoryRules | undefined;
  exclude: EntryGlobs | undefined;
  allowIgnored: EntryGlobs | undefined;
  signal: AbortSignal;
}

export interface DirectoryList {
  entries: FileEntry[];
  truncated: boolean;
}

interface Candidate {
  name: string;
  isDirectory: boolean;
  /** For the orders by facts alone. */
  stats?: Stats | undefined;
}

const orders: Record<ListFiles['sort'], (a: Candidate, b: Candidate) => number> = {
  type_first: (a, b) => Number(b.isDirectory) - Number(a.isDirectory) || compareNames(a.name, b.name),
  name_asc: (a, b) => compareNames(a.name, b.name),
  name_desc: (a, b) => compareNames(b.name, a.name),
  mtime_desc: (a, b) => (b.stats?.mtimeMs ?? 0) - (a.stats?.mtimeMs ?? 0) || compareNames(a.name, b.name),
  size_desc: (a, b) => sizeOf(b) - sizeOf(a) || compareNames(a.name, b.name),
};

/** Directories and links count nothing. */
const sizeOf = ({ stats }: Candidate) => (!stats || stats.isDirectory() || stats.isSymbolicLink() ? 0 : stats.size);

/** The path of an entry, as it is shown. */
const below = (directory: RelativePath, name: string) => (directory === '.' ? name : `${directory}/${name}`);

function createFilter(directory: RelativePath, { showHidden, rules, exclude, allowIgnored }: ListOptions) {
  function ignored(name: string, path: string, isDirectory: boolean): boolean {
    if (!rules?.isIgnored(name, isDirectory)) return false;
    if (name === '.git' || !allowIgnored) return true;
    return !allowIgnored.matches(path, isDirectory) && !(isDirectory && allowIgnored.reachBelow(path));
  }
  return ({ name, isDirectory }: Candidate): boolean => {
    if (!showHidden && name.startsWith('.')) return false;
    const path = below(directory, name);
    return !ignored(name, path, isDirectory) && !exclude?.matches(path, isDirectory);
  };
}

/**
 * The facts of entries of a directory, in the order of their names; undefined for those that have vanished. Calls back
 * instead of making a promise for each, of which a thousand cost as much as the system's answers.
 */
function factsOf(place: Place, names: readonly string[]): Promise<(Stats | undefined)[]> {
  return new Promise((resolve, reject) => {
    const facts: (Stats | undefined)[] = Array.from({ length: names.length });
    let started = 0;
    let missing = names.length;
    if (missing === 0) resolve(facts);
    const next = (): void => {
      const index = started++;
      if (index >= names.length) return;
      lstat(`${place.at}/${names[index]}`, (error, stats) => {
        if (error && error.code !== 'ENOENT') return reject(error);
        facts[index] = error ? undefined : stats;
        if (--missing === 0) return resolve(facts);
        next();
      });
    };
    for (let row = 0; row < WIDTH; row++) next();
  });
}

/** The chosen candidates as they are shown; those that have vanished since are left out. */
async function entriesOf(place: Place, directory: RelativePath, chosen: readonly Candidate[]): Promise<FileEntry[]> {
  const unknown = chosen.filter(({ stats }) => stats === undefined);
  const found = await factsOf(
    place,
    unknown.map(({ name }) => name),
  );
  for (const [index, candidate] of unknown.entries()) candidate.stats = found[index];
  const entries = await inBatches(
    chosen.filter(({ stats }) => stats?.isSymbolicLink()),
    LINKS_WIDTH,
    async ({ name }) => [name, await readlink(join(place.at, name)).catch(() => '')] as const,
  );
  const links = new Map(entries);
  return chosen.flatMap(({ name, stats }) =>
    stats ? [fileEntry(below(directory, name), name, stats, links.get(name))] : [],
  );
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
  const passes = createFilter(directory, options);
  const byFacts = sort === 'mtime_desc' || sort === 'size_desc';
  const best = createBest<Candidate>(limit, orders[sort]);
  const pace = createPace();
  let waiting: Candidate[] = [];

  async function addWaiting(): Promise<void> {
    const dated = waiting;
    waiting = [];
    const facts = await factsOf(
      place,
      dated.map(({ name }) => name),
    );
    for (const [index, { name, isDirectory }] of dated.entries()) {
      const stats = facts[index];
      if (stats) best.add({ name, isDirectory, stats });
    }
  }

  async function take(entry: Dirent): Promise<void> {
    const candidate = { name: entry.name, isDirectory: entry.isDirectory() };
    if (!passes(candidate)) return;
    if (!byFacts) best.add(candidate);
    else if (waiting.push(candidate) >= READ_AHEAD) await addWaiting();
  }

  const reader = await opendir(place.at, { bufferSize: READ_AHEAD });
  for await (const entry of reader) {
    await take(entry);
    if (!pace.due()) continue;
    signal.throwIfAborted();
    await pace.rest();
  }
  await addWaiting();
  const entries = await entriesOf(place, directory, best.items());
  await place.confirm();
  return { entries, truncated: best.seen > limit };
}
