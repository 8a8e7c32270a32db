/** Program of the thread that reads directories, the facts of their entries, and ignore files. */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
  type Dir,
} from 'node:fs';
import { workerData } from 'node:worker_threads';
import { DESCRIPTORS, O_PATH } from '#server/files/descriptors.ts';
import { IGNORE_FILE_MAX_BYTES, type IgnoreTexts } from '#server/ignore-rules/ignore-texts.ts';
import { serveRequests } from '#server/threads/serve-requests.ts';
import {
  NUMBERS,
  PORTION,
  type DirectoryRequest,
  type Facts,
  type Level,
  type LevelOptions,
  type LevelRequest,
  type Portion,
  type PortionRequest,
} from './directory-messages.ts';

/** Index of the directory of the current request that is being read, for the main thread. */
const progress: Int32Array = workerData;
/** Directories that are read in several portions. */
const readers = new Map<number, Dir>();

function linkText(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

function factsOf(at: string, names: readonly string[]): Facts {
  const numbers = new Float64Array(names.length * NUMBERS);
  const links: string[] = [];
  for (const [index, name] of names.entries()) {
    const path = `${at}/${name}`;
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats) continue;
    numbers.set([stats.mode, stats.size, stats.mtimeMs, stats.ino], index * NUMBERS);
    if (stats.isSymbolicLink()) links.push(linkText(path));
  }
  return { numbers, links };
}

function close(reader: number): void {
  readers.get(reader)?.closeSync();
  readers.delete(reader);
}

function openDirectory({ reader, at, from }: PortionRequest): Dir {
  const directory = opendirSync(at, { bufferSize: PORTION });
  readers.set(reader, directory);
  for (let count = 0; count < from && directory.readSync(); count++);
  return directory;
}

function readPortion(request: PortionRequest): Portion {
  const { reader, at, facts } = request;
  try {
    const directory = readers.get(reader) ?? openDirectory(request);
    const names: string[] = [];
    const directories = new Uint8Array(PORTION);
    while (names.length < PORTION) {
      const entry = directory.readSync();
      if (!entry) break;
      if (entry.isDirectory()) directories[names.length] = 1;
      names.push(entry.name);
    }
    if (names.length < PORTION) close(reader);
    const answer = { names: names.join('\0'), directories: directories.slice(0, names.length) };
    return { ...answer, ...factsOf(at, names.slice(0, facts)) };
  } catch (error) {
    close(reader);
    throw error;
  }
}

const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const buffer = Buffer.allocUnsafe(IGNORE_FILE_MAX_BYTES);

/** The beginning of a regular file in whole lines; undefined for other kinds. Throws the system's errors. */
function readText(path: string): string | undefined {
  const fd = openSync(path, READ);
  try {
    if (!fstatSync(fd).isFile()) return undefined;
    let length = 0;
    for (let count = -1; count !== 0 && length < buffer.length; length += count) {
      count = readSync(fd, buffer, length, buffer.length - length, length);
    }
    const text = buffer.toString('utf8', 0, length);
    return length < buffer.length ? text : text.slice(0, text.lastIndexOf('\n') + 1);
  } finally {
    closeSync(fd);
  }
}

/** Ignore files of a directory with these entries; null where one is a link, or where a repository begins. */
function ignoreTexts(at: string, names: readonly string[]): IgnoreTexts | null {
  if (names.includes('.git')) return null;
  const own = (name: string) => (names.includes(name) ? readText(`${at}/${name}`) : undefined);
  try {
    return { ignore: own('.ignore'), gitignore: own('.gitignore') };
  } catch {
    return null;
  }
}

/** Names, numbers and links of the directories of a level so far. */
interface Collected {
  names: string[];
  numbers: number[];
  links: string[];
}

/** Appends a directory; returns null for one that has too many entries. Throws the system's errors. */
function readWhole(at: string, { most, ignoreFiles }: LevelOptions, all: Collected): Level['read'][number] {
  const names: string[] = [];
  const directory = opendirSync(at, { bufferSize: PORTION });
  try {
    for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
      if (names.length === most) return null;
      names.push(entry.name);
    }
  } finally {
    directory.closeSync();
  }
  const { numbers, links } = factsOf(at, names);
  const texts = ignoreFiles ? ignoreTexts(at, names) : null;
  all.names.push(...names);
  all.numbers.push(...numbers);
  all.links.push(...links);
  return { count: names.length, texts };
}

/** Descriptors of the directories that lead to the current one; the next one shares those that it has in common. */
const entered: { name: string; fd: number }[] = [];

function leave(depth: number): void {
  for (const { fd } of entered.splice(depth)) closeSync(fd);
}

/** Opens each directory from its parent and none through a link. */
function enter(top: string, names: readonly string[]): string {
  let depth = 0;
  while (depth < entered.length && entered[depth]?.name === names[depth]) depth++;
  leave(depth);
  const parent = entered.at(-1);
  let at = parent ? `${DESCRIPTORS}/${parent.fd}` : top;
  for (const name of names.slice(depth)) {
    const fd = openSync(`${at}/${name}`, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    entered.push({ name, fd });
    at = `${DESCRIPTORS}/${fd}`;
  }
  return at;
}

function readLevel({ top, paths, most, ignoreFiles }: LevelRequest): Level {
  const all: Collected = { names: [], numbers: [], links: [] };
  const read = paths.map((path, index) => {
    progress[0] = index;
    try {
      return readWhole(enter(top, path === '' ? [] : path.split('/')), { most, ignoreFiles }, all);
    } catch {
      return null;
    }
  });
  leave(0);
  // One array for all is transferred faster than one for each directory.
  return { read, names: all.names.join('\0'), numbers: Float64Array.from(all.numbers), links: all.links };
}

function answer(request: DirectoryRequest): Facts | Portion | Level | undefined {
  switch (request.kind) {
    case 'facts':
      return factsOf(request.at, request.names.split('\0'));
    case 'read':
      return readPortion(request);
    case 'level':
      return readLevel(request);
    case 'close':
      close(request.reader);
      return undefined;
  }
}

serveRequests<DirectoryRequest>({
  answer(request) {
    progress[0] = 0;
    return answer(request);
  },
});
