/**
 * Reads directories and the facts of their entries in a worker thread. Asynchronous calls per entry would block the
 * event loop for several times the duration of the system calls: each costs a request, an object and a callback.
 */
import { constants, type Stats } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { IGNORE_FILE_MAX_BYTES } from '#server/ignore-rules/ignore-file.ts';
import type { IgnoreTexts } from '#server/ignore-rules/ignore-rules.ts';
import { byDescriptor, DESCRIPTORS, O_PATH, type OpenPath } from '#server/files/open-within.ts';
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

/** Entries per message: a directory of usual size needs one. */
const PORTION = 1024;
/** Numbers per entry in a reply; all of them are 0 for an entry that has vanished. */
const NUMBERS = 4;

/** Source of the worker, inline because the built server is one bundle. NUL separates names: no name contains it. */
export const DIRECTORY_PROGRAM = `
const { closeSync, constants, fstatSync, lstatSync, opendirSync, openSync, readlinkSync, readSync } = require('node:fs');
const { parentPort, workerData: progress } = require('node:worker_threads');
const readers = new Map();
function linkText(path) {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
function factsOf(at, names) {
  const numbers = new Float64Array(names.length * ${NUMBERS});
  const links = [];
  names.forEach((name, index) => {
    const stats = lstatSync(at + '/' + name, { throwIfNoEntry: false });
    if (!stats) return;
    numbers.set([stats.mode, stats.size, stats.mtimeMs, stats.ino], index * ${NUMBERS});
    if (stats.isSymbolicLink()) links.push(linkText(at + '/' + name));
  });
  return { numbers, links };
}
function close({ reader }) {
  readers.get(reader)?.closeSync();
  readers.delete(reader);
}
function open({ reader, at, from }) {
  const directory = opendirSync(at, { bufferSize: ${PORTION} });
  readers.set(reader, directory);
  for (let read = 0; read < from && directory.readSync(); read++);
  return directory;
}
function readPortion({ reader, at, from, facts }) {
  const directory = readers.get(reader) ?? open({ reader, at, from });
  const names = [];
  const directories = new Uint8Array(${PORTION});
  for (let entry; names.length < ${PORTION} && (entry = directory.readSync()); ) {
    if (entry.isDirectory()) directories[names.length] = 1;
    names.push(entry.name);
  }
  if (names.length < ${PORTION}) close({ reader });
  return { names: names.join('\\0'), directories: directories.slice(0, names.length), ...factsOf(at, names.slice(0, facts)) };
}
function read(question) {
  try {
    return readPortion(question);
  } catch (error) {
    close(question);
    throw error;
  }
}

const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const buffer = Buffer.allocUnsafe(${IGNORE_FILE_MAX_BYTES});
/** The beginning of a regular file in whole lines; undefined for other kinds. Throws what opening it does. */
function readText(path) {
  const fd = openSync(path, READ);
  try {
    if (!fstatSync(fd).isFile()) return undefined;
    let length = 0;
    for (let count = -1; count !== 0 && length < buffer.length; length += count) {
      count = readSync(fd, buffer, length, buffer.length - length, length);
    }
    const text = buffer.toString('utf8', 0, length);
    return length < buffer.length ? text : text.slice(0, text.lastIndexOf('\\n') + 1);
  } finally {
    closeSync(fd);
  }
}

/** Ignore files of a directory with these entries; null where one is a link, or where a repository begins. */
function ownTexts(at, names) {
  if (names.includes('.git')) return null;
  const own = (name) => (names.includes(name) ? readText(at + '/' + name) : undefined);
  try {
    return { ignore: own('.ignore'), gitignore: own('.gitignore') };
  } catch {
    return null;
  }
}
/** Appends a directory to those of an answer. */
function readWhole(at, { most, ignoreFiles }, all) {
  const names = [];
  const directory = opendirSync(at, { bufferSize: ${PORTION} });
  try {
    for (let entry; (entry = directory.readSync()); names.push(entry.name)) if (names.length === most) return null;
  } finally {
    directory.closeSync();
  }
  const { numbers, links } = factsOf(at, names);
  const texts = ignoreFiles ? ownTexts(at, names) : null;
  all.names.push(...names);
  all.numbers.push(...numbers);
  all.links.push(...links);
  return { count: names.length, texts };
}
/** Descriptors of the directories that lead to the current one; the next one shares those that it has in common. */
const entered = [];
const leave = (depth) => entered.splice(depth).forEach(({ fd }) => closeSync(fd));
/** Opens each directory from its parent and none through a link. */
function enter(top, names) {
  let depth = 0;
  while (depth < entered.length && entered[depth].name === names[depth]) depth++;
  leave(depth);
  let at = depth === 0 ? top : '${DESCRIPTORS}/' + entered[depth - 1].fd;
  for (const name of names.slice(depth)) {
    const fd = openSync(at + '/' + name, ${O_PATH} | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    entered.push({ name, fd });
    at = '${DESCRIPTORS}/' + fd;
  }
  return at;
}
function level({ top, paths, ...wanted }) {
  const all = { names: [], numbers: [], links: [] };
  const read = paths.map((path, index) => {
    progress[0] = index;
    try {
      return readWhole(enter(top, path === '' ? [] : path.split('/')), wanted, all);
    } catch {
      return null;
    }
  });
  leave(0);
  // One array for all crosses faster than one for each directory.
  return { read, names: all.names.join('\\0'), numbers: Float64Array.from(all.numbers), links: all.links };
}

const answers = { facts: ({ at, names }) => factsOf(at, names.split('\\0')), read, close, level };
parentPort.on('message', (question) => {
  progress[0] = 0;
  try {
    parentPort.postMessage({ value: answers[question.kind](question) });
  } catch ({ code, message }) {
    parentPort.postMessage({ code, message });
  }
});
`;

type DirectoryQuestion =
  | { kind: 'facts'; at: string; names: string }
  /** The first message to a thread opens the directory. `from`: entries before it; `facts`: entries to stat. */
  | { kind: 'read'; reader: number; at: string; from: number; facts: number }
  | { kind: 'close'; reader: number }
  /** Directories by their paths below `top`; the empty path is `top` itself. */
  | ({ kind: 'level'; top: string; paths: readonly string[] } & LevelOptions);

const factsSchema = z.object({ numbers: z.instanceof(Float64Array), links: z.array(z.string()) });
type Facts = z.infer<typeof factsSchema>;
const portionSchema = factsSchema.extend({ names: z.string(), directories: z.instanceof(Uint8Array) });
type Portion = z.infer<typeof portionSchema>;

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

export interface LevelOptions {
  /** A directory with more entries is not read. */
  most: number;
  /** Whether the texts of ignore files are requested. */
  ignoreFiles: boolean;
}

/** A directory that was read completely, including the facts of all entries. */
export interface WholeDirectory {
  entries: DirectoryEntry[];
  /** Undefined where not requested or to be read separately: one of them is a link, or the directory has a `.git`. */
  texts: IgnoreTexts | undefined;
}

function wholeDirectories({ read, ...answer }: z.infer<typeof levelSchema>): (WholeDirectory | undefined)[] {
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

/** Creates a reader on a thread that runs `DIRECTORY_PROGRAM`. */
export function createDirectoryReader(thread: DirectoryThread): DirectoryReader {
  const askOf = (question: DirectoryQuestion, directories: readonly string[]) => thread.ask(question, directories);
  const ask = (question: DirectoryQuestion, { real }: OpenPath) => askOf(question, [real]);
  let lastReader = 0;
  return {
    async factsOf(place, names) {
      if (names.length === 0) return [];
      // Transferring one joined string takes a tenth of the time of a thousand strings.
      const asked = await ask({ kind: 'facts', at: place.at, names: names.join('\0') }, place);
      return [...factsIn(factsSchema.parse(asked))];
    },

    async *readDirectory(place, wanted) {
      const reader = ++lastReader;
      let from = 0;
      async function next(): Promise<Portion> {
        const facts = Math.min(PORTION, Math.max(0, wanted - from));
        const asked = ask({ kind: 'read', reader, at: place.at, from, facts }, place);
        from += PORTION;
        return portionSchema.parse(await asked);
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
        if (last && !isLast(last)) await ask({ kind: 'close', reader }, place);
      }
    },

    async readLevel(top, paths, { most, ignoreFiles }) {
      if (!byDescriptor) return [];
      const directories = paths.map((path) => join(top.real, path));
      const counted = Math.min(most, PORTION);
      const asked = askOf({ kind: 'level', top: top.at, paths, most: counted, ignoreFiles }, directories);
      return wholeDirectories(levelSchema.parse(await asked));
    },
  };
}

/** The process's reader. */
export const { factsOf, readDirectory, readLevel } = createDirectoryReader(createDirectoryThread(DIRECTORY_PROGRAM));
