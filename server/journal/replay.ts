/** Replays durable frames from a journal file; also for sessions that are not loaded. */
import { ServiceError } from '#server/errors/service-error.ts';
import { frameText, type StreamPosition } from '#server/events/frame.ts';
import { createBlobStore, type BlobStore } from './blobs.ts';
import { parseHeader, type JournalHeader } from './header.ts';
import { journalFiles, type JournalReader } from './journal-files.ts';
import { isSent, outlinedBatch, readBatch, readLines } from './line-reader.ts';
import { recordFrame, sendable, type StreamIdentity } from './record-frame.ts';

/** Bytes read first when the last number is searched from the end of the file. */
const TAIL_BYTES = 64 * 1024;
/** Bytes read first to find the header. */
const HEADER_BYTES = 1024;

/** Reads the first line; undefined when the file has no complete one. Throws `internal.error` when it is no header. */
export async function readHeader(file: JournalReader): Promise<{ header: JournalHeader; end: number } | undefined> {
  for await (const [line] of readLines(file, 0, undefined, HEADER_BYTES)) {
    const header = line && parseHeader(line.text);
    if (!line || !header) throw new ServiceError('internal.error', "the session's journal is damaged at byte 0");
    return { header, end: line.end };
  }
  return undefined;
}

export interface ReplayRange {
  dir: string;
  blobs: BlobStore;
  stream: StreamIdentity;
  /** Byte offsets: a line's start at or before the first requested number, and the end of the last line. */
  start: number;
  end: number;
  after: number;
  upTo: number;
}

/** The frames `after < seq <= upTo`, byte for byte as first sent. */
export async function* replayLines(range: ReplayRange): AsyncGenerator<string> {
  const { blobs, stream, after, upTo } = range;
  const file = await journalFiles.openToRead(range.dir);
  try {
    for await (const lines of readLines(file, range.start, range.end)) {
      for (const line of lines) {
        const batch = await readBatch(line, blobs);
        for (const record of batch.records) {
          if (!isSent(record) || record.seq <= after) continue;
          if (record.seq > upTo) return;
          yield frameText(recordFrame(await blobs.load(sendable(record)), batch.t, stream));
        }
      }
    }
  } finally {
    await file.close();
  }
}

/** Reads a session's epoch and last number without loading it, from both ends of its journal. Throws as `readEnd`. */
export async function readPosition(dir: string): Promise<StreamPosition> {
  const { seq, epoch } = await readEnd(dir);
  return { seq, epoch };
}

/** Position and time of the last line of a journal or of its part up to `end`. Throws `internal.error`, ENOENT. */
export async function readEnd(dir: string, end?: number): Promise<StreamPosition & { t: number }> {
  const file = await journalFiles.openToRead(dir);
  try {
    const head = await readHeader(file);
    if (!head) return { seq: 0, epoch: '', t: 0 };
    const { header } = head;
    const { epoch, created_at, history = 0 } = header;
    const linesStart = head.end + history;
    const size = end ?? (await file.size());
    const blobs = createBlobStore(dir);
    for (let bytes = TAIL_BYTES; ; bytes *= 2) {
      const whole = size - bytes <= linesStart;
      const { seq, t = created_at } = await lastOf(
        file,
        { start: whole ? linesStart : size - bytes, end },
        whole,
        blobs,
      );
      if (seq !== undefined || whole) return { seq: seq ?? 0, epoch, t };
    }
  } finally {
    await file.close();
  }
}

/** Highest number and time of these lines; without `exact` the first line is incomplete and skipped. */
async function lastOf(
  file: JournalReader,
  { start, end }: { start: number; end: number | undefined },
  exact: boolean,
  blobs: BlobStore,
): Promise<{ seq?: number | undefined; t?: number }> {
  const last: { seq?: number | undefined; t?: number } = {};
  let skip = !exact;
  for await (const lines of readLines(file, start, end)) {
    for (const line of lines) {
      if (skip) {
        skip = false;
        continue;
      }
      const { t, records } = outlinedBatch(line, blobs);
      last.seq = records.findLast(isSent)?.seq ?? last.seq;
      last.t = t;
    }
  }
  return last;
}

/** `SessionLog.replay` without loading the session: reads from the start. Throws `internal.error`, ENOENT. */
export async function* replayCold(dir: string, after: number, upTo: number): AsyncGenerator<string> {
  if (after >= upTo) return;
  const file = await journalFiles.openToRead(dir);
  const head = await readHeader(file).finally(() => file.close());
  if (!head) return;
  const { session_id: sessionId, epoch, history = 0 } = head.header;
  const stream = { sessionId, epoch };
  const start = head.end + history;
  yield* replayLines({ dir, blobs: createBlobStore(dir), stream, start, end: Infinity, after, upTo });
}
