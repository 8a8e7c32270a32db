/**
 * What the system says of a directory and of its entries, asked by a thread. Asked entry by entry in the background they
 * cost the event loop several times what the system takes for them: a request, an object and a call back each.
 */
import type { Stats } from 'node:fs';
import { z } from 'zod';
import type { Place } from '#server/files/open-within.ts';
import { createDirectoryThread, type DirectoryThread } from './directory-thread.ts';

/** What is shown of an entry is made of these. */
export type EntryFacts = Pick<Stats, 'mode' | 'size' | 'mtimeMs' | 'ino'>;

export interface DirectoryEntry {
  name: string;
  isDirectory: boolean;
  /** Absent where they were not asked for. */
  facts?: EntryFacts | undefined;
}

/** Entries read at once: a directory of usual size takes one question. */
const PORTION = 1024;
/** Numbers of an entry in an answer; all of them are 0 for one that has vanished. */
const NUMBERS = 4;

/** Text of a program, since the built server is one bundle that has no file for it. No name has a NUL. */
export const DIRECTORY_PROGRAM = `
const { lstatSync, opendirSync } = require('node:fs');
const { parentPort } = require('node:worker_threads');
const readers = new Map();
function factsOf(at, names) {
  const numbers = new Float64Array(names.length * ${NUMBERS});
  names.forEach((name, index) => {
    const stats = lstatSync(at + '/' + name, { throwIfNoEntry: false });
    if (stats) numbers.set([stats.mode, stats.size, stats.mtimeMs, stats.ino], index * ${NUMBERS});
  });
  return numbers;
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
  const numbers = factsOf(at, names.slice(0, facts));
  return { names: names.join('\\0'), directories: directories.subarray(0, names.length), numbers };
}
function read(question) {
  try {
    return readPortion(question);
  } catch (error) {
    close(question);
    throw error;
  }
}
const answers = { facts: ({ at, names }) => factsOf(at, names.split('\\0')), read, close };
parentPort.on('message', (question) => {
  try {
    parentPort.postMessage({ value: answers[question.kind](question) });
  } catch ({ code, message }) {
    parentPort.postMessage({ code, message });
  }
});
`;

type DirectoryQuestion =
  | { kind: 'facts'; at: string; names: string }
  /** The first opens the directory, as does one in a new thread; `from`: entries before; `facts`: of how many they are wanted. */
  | { kind: 'read'; reader: number; at: string; from: number; facts: number }
  | { kind: 'close'; reader: number };

const numbersSchema = z.instanceof(Float64Array);
const portionSchema = z.object({ names: z.string(), directories: z.instanceof(Uint8Array), numbers: numbersSchema });
type Portion = z.infer<typeof portionSchema>;

function factsAt(numbers: Float64Array, index: number): EntryFacts | undefined {
  const at = index * NUMBERS;
  const mode = numbers[at] ?? 0;
  if (mode === 0) return undefined;
  return { mode, size: numbers[at + 1] ?? 0, mtimeMs: numbers[at + 2] ?? 0, ino: numbers[at + 3] ?? 0 };
}

/** Those that have vanished between being read and being asked about are left out. */
function entriesOf({ names, directories, numbers }: Portion): DirectoryEntry[] {
  if (directories.length === 0) return [];
  const entries: DirectoryEntry[] = [];
  for (const [index, name] of names.split('\0').entries()) {
    const asked = index * NUMBERS < numbers.length;
    const facts = asked ? factsAt(numbers, index) : undefined;
    if (facts || !asked) entries.push({ name, isDirectory: directories[index] === 1, facts });
  }
  return entries;
}

export interface DirectoryReader {
  /**
   * The facts of entries of an opened directory, in the order of their names; undefined for those that have vanished. A
   * link is itself. Rejects with the system's errors and with `UnresponsiveError`.
   */
  factsOf(place: Place, names: readonly string[]): Promise<(EntryFacts | undefined)[]>;
  /**
   * The entries of an opened directory in the order of the disk, portion by portion, the first `wanted` with their facts.
   * Nothing uses the place any more when it is over. Rejects as `factsOf` does.
   */
  readDirectory(place: Place, wanted: number): AsyncGenerator<DirectoryEntry[]>;
}

/** Reads through a thread that runs `DIRECTORY_PROGRAM`. */
export function createDirectoryReader(thread: DirectoryThread): DirectoryReader {
  const ask = (question: DirectoryQuestion, { real }: Place) => thread.ask(question, real);
  let lastReader = 0;
  return {
    async factsOf(place, names) {
      if (names.length === 0) return [];
      // One text crosses in a tenth of the time of a thousand.
      const asked = await ask({ kind: 'facts', at: place.at, names: names.join('\0') }, place);
      const numbers = numbersSchema.parse(asked);
      return names.map((_, index) => factsAt(numbers, index));
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
          // The next is read while this one is looked at.
          if (!isLast(portion)) coming = next();
          yield entriesOf(portion);
          if (isLast(portion)) return;
        }
      } finally {
        // After a failure the thread has closed the directory.
        const last = await coming.catch(() => undefined);
        if (last && !isLast(last)) await ask({ kind: 'close', reader }, place);
      }
    },
  };
}

/** One for the process. */
export const { factsOf, readDirectory } = createDirectoryReader(createDirectoryThread(DIRECTORY_PROGRAM));
