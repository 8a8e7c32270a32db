/** Reads a journal line by line in bounded memory. */
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/errors/errno.ts';
import { mayRefer, type BlobStore } from './blobs.ts';
import { flattenDeepArguments } from './deep-arguments.ts';
import type { JournalReader } from './journal-files.ts';
import { nameType } from './record-types.ts';
import type { Batch, JournalRecord } from './records.ts';

const CHUNK_BYTES = 256 * 1024;
/** Reserved at the start of a chunk's buffer, for the beginning of its first line; at most the size of a chunk. */
const HEAD_BYTES = 64 * 1024;
const LINE_FEED = 10;

export interface Line {
  text: string;
  /** Byte offset of its start. */
  offset: number;
  /** Byte offset after its line feed. */
  end: number;
}

/**
 * The complete lines between two byte offsets, grouped by read; blank lines are omitted. Text after the last line feed
 * is torn or still being written by another process, so it is no line. A small chunk suits a reader of the first lines.
 */
export async function* readLines(
  file: JournalReader,
  start: number,
  end = Infinity,
  chunkBytes = CHUNK_BYTES,
): AsyncGenerator<Line[]> {
  let rest: Buffer = Buffer.alloc(0);
  let restOffset = start;
  for await (const chunk of readAhead(file, start, end, Math.min(chunkBytes, end - start))) {
    const bytes = behind(rest, chunk);
    const lines: Line[] = [];
    let from = 0;
    for (let at = bytes.indexOf(LINE_FEED); at !== -1; at = bytes.indexOf(LINE_FEED, from)) {
      const text = bytes.toString('utf8', from, at);
      if (text.trim() !== '') lines.push({ text, offset: restOffset + from, end: restOffset + at + 1 });
      from = at + 1;
    }
    rest = bytes.subarray(from);
    restOffset += from;
    if (lines.length > 0) yield lines;
  }
}

/** Joins the incomplete line before a chunk with the chunk. */
function behind(rest: Buffer, chunk: Chunk): Buffer {
  const { buffer, head, length } = chunk;
  if (rest.length > head) return Buffer.concat([rest, buffer.subarray(head, head + length)]);
  rest.copy(buffer, head - rest.length);
  return buffer.subarray(head - rest.length, head + length);
}

/** The `length` bytes after the first `head` of a buffer. */
interface Chunk {
  buffer: Buffer;
  head: number;
  length: number;
}

/** Reads one chunk ahead. Buffers are reused: a chunk is valid until the one after the next is requested. */
async function* readAhead(file: JournalReader, start: number, end: number, chunkBytes: number): AsyncGenerator<Chunk> {
  const head = Math.min(HEAD_BYTES, chunkBytes);
  let position = start;
  const buffers: Buffer[] = [];
  // Three buffers in turn: one being read into, the current one, and the previous one with the start of its first line.
  const read = async (turn: number): Promise<Chunk> => {
    const wanted = Math.min(chunkBytes, end - position);
    if (wanted <= 0) return { buffer: Buffer.alloc(0), head: 0, length: 0 };
    const buffer = (buffers[turn % 3] ??= Buffer.allocUnsafe(head + chunkBytes));
    const length = await file.read(buffer.subarray(head), wanted, position);
    position += length;
    return { buffer, head, length };
  };
  let turn = 0;
  let next = read(turn);
  try {
    for (let chunk = await next; chunk.length > 0; chunk = await next) {
      turn += 1;
      // A short chunk is the end of the file, so nothing is read ahead.
      const goesOn = chunk.length === chunkBytes;
      if (goesOn) {
        next = read(turn);
        // A caller that stops reading must not leave an unhandled rejection.
        next.catch(() => undefined);
      }
      yield chunk;
      if (!goesOn) next = read(turn);
    }
  } finally {
    // The caller closes the file next, so the pending read has to finish first.
    await next.catch(() => undefined);
  }
}

/** The `internal.error` of a line that cannot be read or folded. */
export const damagedAt = (offset: number, cause?: unknown) =>
  new ServiceError('internal.error', `the session's journal is damaged at byte ${offset}`, { cause });

/**
 * Decodes a line of the file; returns a promise when the line refers to a blob. Throws `internal.error` with the byte
 * offset when it is no batch.
 */
export function readBatch(line: Line, blobs: BlobStore): Batch | Promise<Batch> {
  return mayRefer(line.text) ? decodedBatch(line, blobs) : outlinedBatch(line, blobs);
}

async function decodedBatch(line: Line, blobs: BlobStore): Promise<Batch> {
  try {
    return asBatch(await blobs.decode(line.text));
  } catch (error) {
    // The blob could not be read at present, which does not mean that the journal is damaged.
    if (errorCode(error) !== undefined) throw error;
    throw damagedAt(line.offset, error);
  }
}

/** The batch of a line that was just encoded. */
export const encodedBatch = (text: string, blobs: BlobStore): Batch => asBatch(blobs.decodeEncoded(text));

/** Decodes a line without reading its long texts. Throws `internal.error`, like `readBatch`. */
export function outlinedBatch(line: Line, blobs: BlobStore): Batch {
  try {
    return asBatch(blobs.outline(line.text));
  } catch (error) {
    throw damagedAt(line.offset, error);
  }
}

function asBatch(value: unknown): Batch {
  if (!isBatch(value)) throw new Error('not a line of records');
  const { t, r: records } = value;
  for (const record of records) {
    nameType(record);
    flattenDeepArguments(record);
  }
  return { t, records };
}

/** Checks the shape that all records share; folds skip unknown types. */
function isBatch(value: unknown): value is { t: number; r: JournalRecord[] } {
  if (typeof value !== 'object' || value === null || !('t' in value) || !('r' in value)) return false;
  return typeof value.t === 'number' && Array.isArray(value.r) && value.r.every(isRecord);
}

function isRecord(value: unknown): value is JournalRecord {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('agent' in value)) return false;
  return typeof value.type === 'string' && typeof value.agent === 'string';
}

/** A record that clients receive. */
export type SentRecord = JournalRecord & { seq: number };

export function isSent(record: JournalRecord): record is SentRecord {
  return 'seq' in record && record.seq !== undefined;
}
