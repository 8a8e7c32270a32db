/** The entries of one directory: filtered, in order, cut. */
import type { Dirent } from 'node:fs';
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
import { fileEntry, kindOf } from './entry.ts';
import { factsOf, type EntryFacts } from './entry-facts.ts';

/** Entries that the system hands over at once. */
const READ_AHEAD = 512;
/** Entries whose facts are asked for at once, while more are read. */
const ASKED_AT_ONCE = 128;
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
  facts?: EntryFacts | undefined;
}

const orders: Record<ListFiles['sort'], (a: Candidate, b: Candidate) => number> = {
  type_first: (a, b) => Number(b.isDirectory) - Number(a.isDirectory) || compareNames(a.name, b.name),
  name_asc: (a, b) => compareNames(a.name, b.name),
  name_desc: (a, b) => compareNames(b.name, a.name),
  mtime_desc: (a, b) => (b.facts?.mtimeMs ?? 0) - (a.facts?.mtimeMs ?? 0) || compareNames(a.name, b.name),
  size_desc: (a, b) => sizeOf(b) - sizeOf(a) || compareNames(a.name, b.name),
};

/** Directories and links count nothing. */
const sizeOf = ({ facts }: Candidate) => (facts && kindOf(facts) === 'file' ? facts.size : 0);

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

/** The chosen candidates as they are shown; those that have vanished since are left out. */
async function entriesOf(place: Place, directory: RelativePath, chosen: readonly Candidate[]): Promise<FileEntry[]> {
  const unknown = chosen.filter(({ facts }) => facts === undefined);
  const found = await factsOf(
    place,
    unknown.map(({ name }) => name),
  );
  for (const [index, candidate] of unknown.entries()) candidate.facts = found[index];
  const entries = await inBatches(
    chosen.filter(({ facts }) => facts && kindOf(facts) === 'symlink'),
    LINKS_WIDTH,
    async ({ name }) => [name, await readlink(join(place.at, name)).catch(() => '')] as const,
  );
  const links = new Map(entries);
  return chosen.flatMap(({ name, facts }) =>
    facts ? [fileEntry(below(directory, name), name, facts, links.get(name))] : [],
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
  let answer = Promise.resolve();

  /** Asks for the facts of what waits; only one question is on its way. */
  async function ask(): Promise<void> {
    await answer;
    const batch = waiting;
    waiting = [];
    answer = tell(batch);
    // Whoever asks next, or waits for the last one, gets its error.
    answer.catch(() => undefined);
  }

  async function tell(batch: readonly Candidate[]): Promise<void> {
    const found = await factsOf(
      place,
      batch.map(({ name }) => name),
    );
    for (const [index, candidate] of batch.entries()) {
      candidate.facts = found[index];
      if (byFacts && candidate.facts) best.add(candidate);
    }
  }

  async function take(entry: Dirent): Promise<void> {
    const candidate: Candidate = { name: entry.name, isDirectory: entry.isDirectory() };
    if (!passes(candidate)) return;
    if (!byFacts) best.add(candidate);
    // Of those beyond the limit, only the chosen ones are asked about, at the end.
    if (!byFacts && best.seen > limit) return;
    if (waiting.push(candidate) >= ASKED_AT_ONCE) await ask();
  }

  const reader = await opendir(place.at, { bufferSize: READ_AHEAD });
  for await (const entry of reader) {
    await take(entry);
    if (!pace.due()) continue;
    signal.throwIfAborted();
    await pace.rest();
  }
  await ask();
  await answer;
  const entries = await entriesOf(place, directory, best.items());
  await place.confirm();
  return { entries, truncated: best.seen > limit };
}
