/** Search without ripgrep: slower, with the same results. */
import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/errors/errno.ts';
import { createIgnoreRules, type IgnoreRulesDeps } from '#server/ignore-rules/ignore-rules.ts';
import { within, type Within } from '#server/files/open-within.ts';
import { relativePath, type RelativePath, type WorkDirectory } from '#server/files/work-directory.ts';
import { startMatchingThread, type MatchingThread } from './matching-thread.ts';
import { ownPattern } from './own-pattern.ts';
import { TimedOut, type Search } from './search.ts';

const CHUNK_BYTES = 256 * 1024;
/** The rest of a longer line is not searched. */
const LINE_MAX_CHARS = 1024 * 1024;

interface Line {
  number: number;
  text: string;
}

/** Yields lines of a file in batches, decoded by its byte order mark; undefined for a batch with a NUL character. */
async function* batches(read: () => Promise<Buffer>): AsyncGenerator<Line[] | undefined> {
  let decoder: { write(chunk: Buffer): string; end(): string } | undefined;
  let rest = '';
  let number = 0;
  const take = (text: string): Line[] => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, LINE_MAX_CHARS);
    return lines.map((line) => ({ number: ++number, text: line.endsWith('\r') ? line.slice(0, -1) : line }));
  };
  for (let chunk = await read(); chunk.length > 0; chunk = await read()) {
    decoder ??= decoderFor(chunk);
    const text = decoder.write(chunk);
    if (text.includes('\0')) {
      yield undefined;
      return;
    }
    yield take(text);
  }
  yield take(decoder?.end() ?? '');
  if (rest !== '') yield [{ number: number + 1, text: rest }];
}

function decoderFor(head: Buffer): { write(chunk: Buffer): string; end(): string } {
  const [first, second] = head;
  const wide =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
  if (wide === undefined && !(first === 0xef && second === 0xbb)) return new StringDecoder('utf8');
  const decoder = new TextDecoder(wide ?? 'utf-8');
  return { write: (chunk) => decoder.decode(chunk, { stream: true }), end: () => decoder.decode() };
}

/** Whether it was a regular file. Throws the errors of opening it. */
async function searchFile(
  inside: Within,
  path: RelativePath,
  thread: MatchingThread,
  search: Search,
): Promise<boolean> {
  const { collector, request } = search;
  const place = await inside.open(path);
  try {
    if (!(await place.stat()).isFile()) return false;
    const file = await open(place.at, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const read = async () => {
        const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES);
        return buffer.subarray(0, bytesRead);
      };
      const matches = createContext(request.context_lines, collector.line);
      collector.begin(path);
      let isText = true;
      for await (const lines of batches(read)) {
        if (lines === undefined) {
          isText = false;
          break;
        }
        const found = lines.length > 0 ? await thread.search(lines.map(({ text }) => text)) : [];
        for (const [index, line] of lines.entries()) matches.line(line, found[index] ?? -1);
        // One match above the limit shows that there are more.
        if (matches.count() > request.max_matches_per_file) break;
      }
      await place.confirm();
      collector.end(isText);
      return true;
    } finally {
      await file.close();
    }
  } finally {
    await place.close();
  }
}

/** Passes on matching lines with their context. */
function createContext(width: number, tell: Search['collector']['line']) {
  let before: Line[] = [];
  let after = 0;
  let count = 0;
  return {
    count: () => count,
    line(line: Line, at: number): void {
      if (at >= 0) {
        for (const each of before) tell({ ...each, col: undefined });
        before = [];
        tell({ ...line, col: at + 1 });
        count++;
        after = width;
      } else if (after > 0) {
        tell({ ...line, col: undefined });
        after--;
      } else if (width > 0) {
        before.push(line);
        if (before.length > width) before.shift();
      }
    },
  };
}

/** Returns the number of files that were searched. Throws `validation.failed`, `TimedOut` and the signal's reason. */
export async function searchInProcess(
  directory: WorkDirectory,
  search: Search,
  deps: IgnoreRulesDeps,
): Promise<number> {
  const { request, selection, collector, signal, until } = search;
  const expression = ownPattern(request);
  const inside = await within(directory);
  const rules = request.follow_gitignore ? createIgnoreRules(directory, inside, deps) : undefined;
  const thread = startMatchingThread(expression, { until, signal });
  let scanned = 0;
  const directories: RelativePath[] = [relativePath('.')];
  try {
    for (let path = directories.pop(); path !== undefined && !collector.full; path = directories.pop()) {
      const place = await inside.open(path).catch(() => undefined);
      // Entries that vanished or are unreadable are skipped, as ripgrep does.
      const entries = place ? await readdir(place.at, { withFileTypes: true }).catch(() => []) : [];
      await place?.close();
      const own = await rules?.at(path);
      for (const entry of entries) {
        if (collector.full) break;
        signal.throwIfAborted();
        if (performance.now() >= until) throw new TimedOut();
        const child = childOf(path, entry.name);
        if (child === undefined) continue;
        if (own?.isIgnored(entry.name, entry.isDirectory())) continue;
        if (entry.isDirectory()) {
          if (selection.enters(child)) directories.push(child);
        } else if (entry.isFile() && selection.takes(child)) {
          const searched = await searchFile(inside, child, thread, search).catch((error: unknown) => {
            if (errorCode(error) === undefined && !isEscape(error)) throw error;
            return false;
          });
          if (searched) scanned++;
        }
      }
    }
  } finally {
    await thread.close();
  }
  return scanned;
}

/** Undefined for a name that no path of a request can have. */
function childOf(path: RelativePath, name: string): RelativePath | undefined {
  try {
    return relativePath(path === '.' ? name : `${path}/${name}`);
  } catch {
    return undefined;
  }
}

const isEscape = (error: unknown) => error instanceof ServiceError && error.name === 'fs.path_escapes_session';
