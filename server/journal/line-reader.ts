/** Reads a journal line by line in bounded memory. */
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/files/errno.ts';
import type { BlobStore } from './blobs.ts';
import type { JournalReader } from './journal-files.ts';
import type { Batch, JournalRecord } from './records.ts';

const CHUNK_BYTES = 256 * 1024;
const LINE_FEED = 10;

export interface Line {
  text: string;
  /** Byte offset of its start. */
  offset: number;
  /** Byte offset behind its line feed. */
  end: number;
}

/**
 * The complete lines between two byte offsets, in groups as they were read; blank ones are left out. Text behind the
 * last line feed is torn, or still being written by another process: it is not a line.
 */
export async function* readLines(file: JournalReader, start: number, end = Infinity): AsyncGenerator<Line[]> {
  let rest: Buffer = Buffer.alloc(0);
  let restOffset = start;
  for await (const chunk of readAhead(file, start, end)) {
    const bytes = Buffer.concat([rest, chunk]);
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

/** The bytes in chunks, each of them good until the next is asked for; that one is read meanwhile. */
async function* readAhead(file: JournalReader, start: number, end: number): AsyncGenerator<Buffer> {
  let position = start;
  const read = async (buffer: Buffer) => {
    const wanted = Math.min(CHUNK_BYTES, end - position);
    const length = wanted > 0 ? await file.read(buffer, wanted, position) : 0;
    position += length;
    return buffer.subarray(0, length);
  };
  let buffer: Buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let spare: Buffer | undefined;
  let next = read(buffer);
  try {
    for (let chunk = await next; chunk.length > 0; chunk = await next) {
      // A file that ends here has nothing to be read ahead.
      const goesOn = chunk.length === CHUNK_BYTES;
      if (goesOn) {
        [buffer, spare] = [spare ?? Buffer.allocUnsafe(CHUNK_BYTES), buffer];
        next = read(buffer);
        // Whoever reads no further hears of no failure.
        next.catch(() => undefined);
      }
      yield chunk;
      if (!goesOn) next = read(buffer);
    }
  } finally {
    // The file is closed behind this.
    await next.catch(() => undefined);
  }
}

/** 50001 of a line that cannot be read or folded. */
export const damagedAt = (offset: number, cause?: unknown) =>
  new ServiceError('internal.error', `the session's journal is damaged at byte ${offset}`, { cause });

/** The batch of a line of the file. Throws 50001 naming the byte offset when it is none. */
export async function readBatch(line: Line, blobs: BlobStore): Promise<Batch> {
  try {
    return asBatch(await blobs.decode(line.text));
  } catch (error) {
    // A blob could not be read for now.
    if (errorCode(error) !== undefined) throw error;
    throw damagedAt(line.offset, error);
  }
}

/** The batch of a line that was just encoded. */
export const encodedBatch = (text: string, blobs: BlobStore): Batch => asBatch(blobs.decodeEncoded(text));

/** The batch of a line with none of its long texts read. Throws 50001 as `readBatch` does. */
export function outlinedBatch(line: Line, blobs: BlobStore): Batch {
  try {
    return asBatch(blobs.outline(line.text));
  } catch (error) {
    throw damagedAt(line.offset, error);
  }
}

function asBatch(value: unknown): Batch {
  if (!isBatch(value)) throw new Error('not a line of records');
  return { t: value.t, records: value.r };
}

/** The shape that all records share; a type that is not known is skipped by every fold. */
function isBatch(value: unknown): value is { t: number; r: JournalRecord[] } {
  if (typeof value !== 'object' || value === null || !('t' in value) || !('r' in value)) return false;
  return (
    typeof value.t === 'number' &&
    Array.isArray(value.r) &&
    value.r.every(
      (record: unknown) =>
        typeof record === 'object' &&
        record !== null &&
        'type' in record &&
        typeof record.type === 'string' &&
        'agent' in record &&
        typeof record.agent === 'string',
    )
  );
}

/** A record that clients get. */
export type SentRecord = JournalRecord & { seq: number };

export function isSent(record: JournalRecord): record is SentRecord {
  return 'seq' in record && record.seq !== undefined;
}
