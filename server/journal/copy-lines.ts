/** Copies the lines of a journal as the beginning of another one. */
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/errors/errno.ts';
import { createBlobStore, type BlobStore } from './blobs.ts';
import { becomeCopy } from './copy-state.ts';
import type { LogState } from './fold.ts';
import { JOURNAL_FORMAT, type JournalHeader } from './header.ts';
import type { JournalFiles, JournalReader } from './journal-files.ts';
import type { FeatureProjection } from './projections/feature-projection.ts';
import { readEnd, readHeader } from './replay.ts';
import { emptyView, readOn, type JournalView } from './view.ts';

const LINE_FEED = 10;
const LOOK_BYTES = 64 * 1024;

/** A journal to be copied, which another process may write meanwhile. */
export interface CopiedJournal {
  dir: string;
  sessionId: string;
  /** Byte offset of the end of the copied lines; default: the end of the last complete line. */
  end?: number | undefined;
  /** The fold of these lines, if it is cached. */
  known?: KnownFold | undefined;
}

/** A fold of exactly the copied lines; becomes that of the copy. */
export interface KnownFold {
  state: LogState;
  /** Whether `state` may contain long texts. */
  holdsTexts: boolean;
}

export interface LineCopy {
  source: CopiedJournal;
  /** Folder that contains all files to which the lines refer. */
  stage: string;
  /** Header of the copy; `history` and `forked_from` are added when it is written. */
  header: JournalHeader;
  files: JournalFiles;
}

interface CopiedLines {
  header: JournalHeader & { history: number };
  /** A line's byte offset in the copy minus that in the original. */
  shift: number;
  /** Bytes of the copy's file. */
  length: number;
  /** Time of the last copied line. */
  t: number;
  /** The original has no journal. */
  empty: boolean;
}

/** Writes the copy's file; empty for a missing journal. Throws `persistence.failure` for a newer format. */
export async function copyLines({ source, stage, header, files }: LineCopy): Promise<CopiedLines> {
  const found = await bounds(source, files);
  const { seq, epoch, t } = found ? await readEnd(source.dir, found.end) : { seq: 0, epoch: '', t: 0 };
  const { start = 0, end = 0 } = found ?? {};
  const forked_from = { session_id: source.sessionId, epoch, seq };
  const own = { ...header, history: end - start, forked_from };
  const head = `${JSON.stringify(own)}\n`;
  await files.copy({ dir: source.dir, start, end }, stage, head);
  const length = Buffer.byteLength(head);
  return { header: own, shift: length - start, length: length + own.history, t, empty: !found };
}

/** Calls `copyLines` and folds the copy, unless its fold is cached. Also throws `internal.error` for a damaged line. */
export async function foldCopy(
  copy: LineCopy,
  projections: readonly FeatureProjection[],
): Promise<JournalView & { blobs: BlobStore }> {
  const { source, stage, files } = copy;
  const { header, shift, length, empty } = await copyLines(copy);
  const known = empty ? undefined : source.known;
  const blobs = createBlobStore(stage, files, known?.holdsTexts);
  if (!known) {
    const view = emptyView(copy.header, projections);
    await readOn(view, stage, blobs);
    return { ...view, blobs };
  }
  const { state } = known;
  becomeCopy(state, header, shift);
  return { header, state, seq: 0, length, ownStart: length, marks: [], broken: false, blobs };
}

/** Byte offsets of the start and the end of the lines after the header; undefined without a header. */
async function bounds({ dir, end }: CopiedJournal, files: JournalFiles) {
  const file = await files.openToRead(dir).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (!file) return undefined;
  try {
    const head = await readHeader(file);
    if (!head) return undefined;
    if (head.header.format > JOURNAL_FORMAT) {
      const format = `journal format ${head.header.format}`;
      throw new ServiceError('persistence.failure', `the session was written by a newer version (${format})`);
    }
    return { start: head.end, end: end ?? (await lastLineEnd(file, head.end)) };
  } finally {
    await file.close();
  }
}

/** Offset after the last line feed; later bytes are torn or still being written. */
async function lastLineEnd(file: JournalReader, start: number): Promise<number> {
  const piece = Buffer.allocUnsafe(LOOK_BYTES);
  for (let end = await file.size(); end > start;) {
    const from = Math.max(start, end - LOOK_BYTES);
    const read = await file.read(piece, end - from, from);
    const at = piece.subarray(0, read).lastIndexOf(LINE_FEED);
    if (at !== -1) return from + at + 1;
    end = from;
  }
  return start;
}
