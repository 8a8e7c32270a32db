/**
 * Reads directories and the facts of their entries in a worker thread. Asynchronous calls per entry would block the
 * event loop for several times the duration of the system calls: each costs a request, an object and a callback.
 */
import { constants, type Stats } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { byDescriptor } from '#server/files/descriptors.ts';
import type { OpenPath } from '#server/files/open-within.ts';
import type { IgnoreTexts } from '#server/ignore-rules/ignore-texts.ts';
import {
  NUMBERS,
  PORTION,
  type DirectoryRequest,
  type Facts,
  type Level,
  type LevelOptions,
  type Portion,
} from './directory-messages.ts';
import { createDirectoryThread, type DirectoryThread } from './directory-thread.ts';

/** The file attributes that a reply's entry is built from. */
export interface EntryStats extends Pick<Stats, 'mode' | 'size' | 'mtimeMs' | 'ino'> {
  /** The target text of a symbolic link; empty where it cannot be read. */
  link?: string | undefined;
}

export interface DirectoryEntry {
  name: string;
  isDirectory: boolean;
  /** Undefined where they were not requested. */
  facts?: EntryStats | undefined;
}

const factsSchema = z.object({ numbers: z.instanceof(Float64Array), links: z.array(z.string()) });
const portionSchema = factsSchema.extend({ names: z.string(), directories: z.instanceof(Uint8Array) });

const textSchema = z.string().optional();
const ownTextsSchema = z.object({ ignore: textSchema, gitignore: textSchema });
const levelSchema = factsSchema.extend({
  names: z.string(),
  read: z.array(z.object({ count: z.number(), texts: ownTextsSchema.nullable() }).nullable()),
});

const isLink = (mode: number) => (mode & constants.S_IFMT) === constants.S_IFLNK;
const isDirectory = (mode: number) => (mode & constants.S_IFMT) === constants.S_IFDIR;

/** Yields the facts of the requested entries, in order; undefined for an entry that has vanished. */
function* factsIn({ numbers, links }: Facts): Generator<EntryStats | undefined, undefined> {
  const texts = links.values();
  for (let at = 0; at < numbers.length; at += NUMBERS) {
    const mode = numbers[at] ?? 0;
    const link = isLink(mode) ? texts.next().value : undefined;
    const facts = { mode, size: numbers[at + 1] ?? 0, mtimeMs: numbers[at + 2] ?? 0, ino: numbers[at + 3] ?? 0, link };
    yield mode === 0 ? undefined : facts;
  }
}

/** Builds the entries, without those that vanished between being listed and being read. */
function entriesOf({ names, directories, ...answer }: Portion): DirectoryEntry[] {
  if (directories.length === 0) return [];
  const entries: DirectoryEntry[] = [];
  const known = factsIn(answer);
  for (const [index, name] of names.split('\0').entries()) {
    const { value: facts, done } = known.next();
    if (facts || done) entries.push({ name, isDirectory: directories[index] === 1, facts });
  }
  return entries;
}

/** A directory that was read completely, including the facts of all entries. */
export interface WholeDirectory {
  entries: DirectoryEntry[];
  /** Undefined where not requested or to be read separately: one of them is a link, or the directory has a `.git`. */
  texts: IgnoreTexts | undefined;
}

function wholeDirectories({ read, ...answer }: Level): (WholeDirectory | undefined)[] {
  const names = answer.names.split('\0').values();
  const known = factsIn(answer);
  return read.map((directory) => {
    if (!directory) return undefined;
    const entries: DirectoryEntry[] = [];
    for (let index = 0; index < directory.count; index++) {
      const { value: name } = names.next();
      const { value: facts } = known.next();
      if (name !== undefined && facts) entries.push({ name, isDirectory: isDirectory(facts.mode), facts });
    }
    return { entries, texts: directory.texts ?? undefined };
  });
}

export interface DirectoryReader {
  /**
   * Returns the facts of entries of an opened directory, in the order of `names`; undefined for those that have
   * vanished. Links are not followed. Rejects with the system's errors and with `UnresponsiveError`.
   */
  factsOf(place: OpenPath, names: readonly string[]): Promise<(EntryStats | undefined)[]>;
  /**
   * Yields the entries of an opened directory in disk order, portion by portion, the first `wanted` with their facts.
   * The place is no longer used after the generator finishes. Rejects like `factsOf`.
   */
  readDirectory(place: OpenPath, wanted: number): AsyncGenerator<DirectoryEntry[]>;
  /**
   * Reads directories at or below an opened one in one message, by their paths relative to it, and none through a link.
   * Undefined for a directory that has to be read separately: it has too many entries or cannot be read this way.
   * Rejects with `UnresponsiveError`.
   */
  readLevel(
    top: OpenPath,
    paths: readonly string[],
    options: LevelOptions,
  ): Promise<readonly (WholeDirectory | undefined)[]>;
}

/** Creates a reader on a thread that runs `directory-program.ts`. */
export function createDirectoryReader(thread: DirectoryThread): DirectoryReader {
  const requestOn = (request: DirectoryRequest, { real }: OpenPath) => thread.request(request, [real]);
  let lastReader = 0;
  return {
    async factsOf(place, names) {
      if (names.length === 0) return [];
      // Transferring one joined string takes a tenth of the time of a thousand strings.
      const answer = await requestOn({ kind: 'facts', at: place.at, names: names.join('\0') }, place);
      return [...factsIn(factsSchema.parse(answer))];
    },

    async *readDirectory(place, wanted) {
      const reader = ++lastReader;
      let from = 0;
      async function next(): Promise<Portion> {
        const facts = Math.min(PORTION, Math.max(0, wanted - from));
        const answer = requestOn({ kind: 'read', reader, at: place.at, from, facts }, place);
        from += PORTION;
        return portionSchema.parse(await answer);
      }
      const isLast = ({ directories }: Portion) => directories.length < PORTION;
      let coming = next();
      try {
        for (;;) {
          const portion = await coming;
          // Prefetches the next portion while the consumer handles this one.
          if (!isLast(portion)) coming = next();
          yield entriesOf(portion);
          if (isLast(portion)) return;
        }
      } finally {
        // After an error the thread has closed the directory already.
        const last = await coming.catch(() => undefined);
        if (last && !isLast(last)) await requestOn({ kind: 'close', reader }, place);
      }
    },

    async readLevel(top, paths, { most, ignoreFiles }) {
      if (!byDescriptor) return [];
      const directories = paths.map((path) => join(top.real, path));
      const counted = Math.min(most, PORTION);
      const request: DirectoryRequest = { kind: 'level', top: top.at, paths, most: counted, ignoreFiles };
      return wholeDirectories(levelSchema.parse(await thread.request(request, directories)));
    },
  };
}

/** The process's reader. */
export const { factsOf, readDirectory, readLevel } = createDirectoryReader(
  createDirectoryThread(() => import('./directory-program.ts?thread')),
);
