/** The lines of a journal as the beginning of another one. */
import { ServiceError } from '#server/errors/service-error.ts';
import { errorCode } from '#server/files/errno.ts';
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

/** A journal that is copied, whoever writes it meanwhile. */
export interface CopiedJournal {
  dir: string;
  sessionId: string;
  /** Bytes of its lines that count; up to its last whole one unless given. */
  end?: number | undefined;
  /** What these lines fold to, where that is known. */
  known?: KnownFold | undefined;
}

/** A fold of exactly the lines that are copied; becomes that of the copy. */
export interface KnownFold {
  state: LogState;
  /** Long texts may stand in it. */
  holdsTexts: boolean;
}

export interface LineCopy {
  source: CopiedJournal;
  /** Holds all that the lines refer to. */
  stage: string;
  /** Of the copy; says afterwards what it was copied from. */
  header: JournalHeader;
  files: JournalFiles;
}

interface CopiedLines {
  header: JournalHeader & { history: number };
  /** So many bytes further on than in the original. */
  shift: number;
  /** Bytes of the copy's file. */
  length: number;
  /** Time of the last of them. */
  t: number;
  /** The original has no journal. */
  empty: boolean;
}

/** Writes the copy's file; a journal that is not there is an empty one. Throws 50003 of a newer format. */
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

/** As `copyLines`, and folds the copy, unless that is known. Throws 50001 of a damaged line too. */
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

/** Where the lines behind the header begin and end; undefined where there is no header. */
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

/** Behind the last line feed; what follows is torn, or just being written. */
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
