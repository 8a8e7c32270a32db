/**
 * Columns of matches beyond the stored prefix of a line: the file is read again up to the match, counting characters.
 */
import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { GrepFile } from '#schema/rest/grep.ts';
import { within } from '#server/files/open-within.ts';
import { relativePath, type WorkDirectory } from '#server/files/work-directory.ts';

const CHUNK_BYTES = 64 * 1024;

export interface FarMatch {
  path: string;
  line: number;
  /** In bytes of UTF-8, as the engine counts: offset of the line in the file, and of the match in the line. */
  ofLine: number;
  inLine: number;
}

async function* chunks(file: FileHandle, start: number, signal: AbortSignal): AsyncGenerator<Buffer> {
  for (let position = start; ;) {
    signal.throwIfAborted();
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/** Counts the UTF-16 units in a range of bytes. */
async function unitsOfBytes(file: FileHandle, start: number, length: number, signal: AbortSignal): Promise<number> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let left = length;
  let units = 0;
  for await (const chunk of chunks(file, start, signal)) {
    const wanted = chunk.subarray(0, left);
    units += decoder.decode(wanted, { stream: true }).length;
    left -= wanted.length;
    if (left === 0) break;
  }
  return units + decoder.decode().length;
}

/** The same for a UTF-16 file, whose offsets the engine counts in UTF-8. */
async function unitsOfUtf16(
  file: FileHandle,
  encoding: string,
  range: { start: number; length: number },
  signal: AbortSignal,
) {
  const decoder = new TextDecoder(encoding);
  const end = range.start + range.length;
  let bytes = 0;
  let units = 0;
  for await (const chunk of chunks(file, 0, signal)) {
    const text = Buffer.from(decoder.decode(chunk, { stream: true }));
    const from = Math.max(0, range.start - bytes);
    if (from < text.length) units += text.subarray(from, end - bytes).toString().length;
    bytes += text.length;
    if (bytes >= end) break;
  }
  return units;
}

async function columnOf(file: FileHandle, { ofLine, inLine }: FarMatch, signal: AbortSignal): Promise<number> {
  const { buffer } = await file.read(Buffer.alloc(3), 0, 3, 0);
  const [first, second, third] = buffer;
  const wide =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
  if (wide) return 1 + (await unitsOfUtf16(file, wide, { start: ofLine, length: inLine }, signal));
  // The engine does not count a byte order mark.
  const mark = first === 0xef && second === 0xbb && third === 0xbf ? 3 : 0;
  return 1 + (await unitsOfBytes(file, ofLine + mark, inLine, signal));
}

/** Sets `col` of those matches that are among the files. A file that no longer exists keeps its previous value. */
export async function findFarColumns(
  directory: WorkDirectory,
  files: readonly GrepFile[],
  far: readonly FarMatch[],
  signal: AbortSignal,
): Promise<void> {
  if (far.length === 0) return;
  const inside = await within(directory);
  for (const each of far) {
    const matches = files.find(({ path }) => path === each.path)?.matches;
    const match = matches?.find(({ line }) => line === each.line);
    if (!match) continue;
    const place = await inside.open(relativePath(each.path)).catch(() => undefined);
    if (!place) continue;
    try {
      const file = await open(place.at, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
      try {
        match.col = await columnOf(file, each, signal);
      } finally {
        await file.close();
      }
    } finally {
      await place.close();
    }
  }
}
