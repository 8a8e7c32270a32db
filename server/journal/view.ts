/** The part of a journal that has been read or written, and its fold. */
import { newUlid } from '#server/ids.ts';
import { errorCode } from '#server/errors/errno.ts';
import type { BlobStore } from './blobs.ts';
import { applyBatch, initialState, type LogState } from './fold.ts';
import { JOURNAL_FORMAT, type JournalHeader } from './header.ts';
import { journalFiles, type JournalReader } from './journal-files.ts';
import { damagedAt, isSent, readBatch, readLines, type SentRecord } from './line-reader.ts';
import type { FeatureProjection } from './projections/feature-projection.ts';
import type { Batch } from './records.ts';
import { readHeader } from './replay.ts';

export interface JournalView {
  header: JournalHeader;
  state: LogState;
  /** Highest number so far. */
  seq: number;
  /** Bytes of complete lines; 0 without a complete header. */
  length: number;
  /** Byte offset of the session's own lines, after copied ones. */
  ownStart: number;
  /** Sparse index: the byte offsets of the lines of some numbers. */
  marks: { seq: number; offset: number }[];
  /** A record that lacks members of its type failed the fold in the middle of a line: `state` must not be used. */
  broken: boolean;
}

/** Called for each line before its fold; the returned function is called after the fold. */
export type LineListener = (batch: Batch, sent: SentRecord[]) => Promise<() => void> | (() => void) | void;

/** Bytes between two marks. */
const MARK_BYTES = 64 * 1024;

/** The header of a new stream. */
export function newHeader(sessionId: string, createdAt: number): JournalHeader {
  const epoch = `ep_${newUlid()}`;
  return { type: 'metadata', format: JOURNAL_FORMAT, session_id: sessionId, epoch, created_at: createdAt };
}

/** The view of an empty or missing file; `header` is the one to be written. */
export function emptyView(header: JournalHeader, projections: readonly FeatureProjection[]): JournalView {
  return { header, state: initialState(header, projections), seq: 0, length: 0, ownStart: 0, marks: [], broken: false };
}

/** Records of a line that clients receive; none for copied lines. */
const sentIn = (view: JournalView, { records }: Batch, offset: number): SentRecord[] =>
  offset < view.ownStart ? [] : records.filter(isSent);

/**
 * Folds a line that is stored at this offset and whose first `before` records were folded earlier. Throws
 * `internal.error` on failure, and then the view is broken.
 */
export function foldLine(view: JournalView, batch: Batch, offset: number, end: number, before = 0): SentRecord[] {
  const sent = sentIn(view, batch, offset);
  const [first] = sent;
  const mark = view.marks.at(-1);
  if (first && (!mark || offset - mark.offset >= MARK_BYTES)) view.marks.push({ seq: first.seq, offset });
  try {
    const rest = before === 0 ? batch : { t: batch.t, records: batch.records.slice(before) };
    applyBatch(view.state, rest, offset, before);
  } catch (error) {
    view.broken = true;
    throw damagedAt(offset, error);
  }
  view.seq = sent.at(-1)?.seq ?? view.seq;
  view.length = end;
  return sent;
}

/**
 * Reads from the view's end to the last complete line, updating the view. A missing file, or one without a complete
 * first line, leaves it empty. Throws `internal.error` naming the offset of a damaged line. A broken view is read from
 * the start, so that no line is folded twice.
 */
export async function readOn(view: JournalView, dir: string, blobs: BlobStore, onLine?: LineListener): Promise<void> {
  const file = await openIfThere(dir);
  if (!file) return;
  try {
    if (view.broken) Object.assign(view, emptyView(view.header, view.state.features.projections));
    if (view.length === 0 && !(await begin(view, file))) return;
    for await (const lines of readLines(file, view.length)) {
      for (const line of lines) {
        const reading = readBatch(line, blobs);
        const batch = reading instanceof Promise ? await reading : reading;
        const telling = onLine?.(batch, sentIn(view, batch, line.offset));
        const folded = telling instanceof Promise ? await telling : telling;
        foldLine(view, batch, line.offset, line.end);
        folded?.();
      }
    }
  } finally {
    await file.close();
  }
}

async function begin(view: JournalView, file: JournalReader): Promise<boolean> {
  const found = await readHeader(file);
  if (!found) return false;
  const { header, end } = found;
  const { projections } = view.state.features;
  Object.assign(view, { ...emptyView(header, projections), length: end, ownStart: end + (header.history ?? 0) });
  return true;
}

async function openIfThere(dir: string): Promise<JournalReader | undefined> {
  try {
    return await journalFiles.openToRead(dir);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
