/** Reads the journal of a session, from where its last indexing ended, as portions that fit into one transaction. */
import { createBlobStore, type BlobStore } from '#server/journal/blobs.ts';
import { journalFiles } from '#server/journal/journal-files.ts';
import { damagedAt, readBatch, readLines, type Line } from '#server/journal/line-reader.ts';
import { readHeader } from '#server/journal/replay.ts';
import type { Connection } from '#server/storage/derived-db.ts';
import { applySearchRecord, foldText, parseFold, type SearchChange, type SearchFold } from './search-rows.ts';
import { findSession, isBeingReset, resetSession, type JournalSource } from './sessions.ts';
import { indexedText, type IndexedDocument } from './write-documents.ts';

/** A transaction has at most so many documents and UTF-16 units, or those of one line: other writers wait for it. */
export const TRANSACTION = { documents: 64, units: 100_000 };

/** A change whose text is read. */
type WritableChange = Exclude<SearchChange, { kind: 'put' }> | { kind: 'put'; document: IndexedDocument };

/** Changes of consecutive lines of a journal. */
export interface Portion {
  source: JournalSource;
  epoch: string;
  /** Byte offset of its first line. */
  from: number;
  /** Byte offset after its last line. */
  end: number;
  /** The projection's state at `end`. */
  fold: string;
  changes: WritableChange[];
  documents: number;
  units: number;
}

/**
 * Yields the changes of the complete lines up to byte `length` of the journal that are not indexed yet. A journal with
 * another epoch, or one that is shorter than what is indexed of it, is indexed from its start. Throws `internal.error`
 * for a damaged line, errors of the file system and of SQLite.
 */
export async function* readPortions(
  connection: Connection,
  source: JournalSource,
  length: number,
): AsyncGenerator<Portion, void> {
  const file = journalFiles.openToReadSync(source.folder);
  try {
    const head = await readHeader(file);
    if (!head) return;
    const { epoch } = head.header;
    const size = await file.size();
    let session = findSession(connection, source.id);
    // Another server may reset the same session.
    while (session && (session.epoch !== epoch || session.length > size || isBeingReset(session))) {
      await resetSession(connection, session.number, epoch);
      session = findSession(connection, source.id);
    }
    const { length: indexed, fold: state } = session ?? { length: 0, fold: '[]' };
    const fold = parseFold(state);
    const blobs = createBlobStore(source.folder);
    const portionFrom = (from: number): Portion => ({
      source,
      epoch,
      from,
      end: from,
      fold: '',
      changes: [],
      documents: 0,
      units: 0,
    });
    let portion = portionFrom(indexed);
    // The caller's length may be older than what is indexed, and than the journal.
    const end = Math.min(length, size);
    for await (const lines of readLines(file, Math.max(indexed, head.end), end)) {
      for (const line of lines) {
        await addLine(portion, fold, line, blobs);
        if (portion.documents < TRANSACTION.documents && portion.units < TRANSACTION.units) continue;
        yield { ...portion, fold: foldText(fold) };
        portion = portionFrom(portion.end);
      }
    }
    if (portion.end > portion.from) yield { ...portion, fold: foldText(fold) };
  } finally {
    await file.close();
  }
}

async function addLine(portion: Portion, fold: SearchFold, line: Line, blobs: BlobStore): Promise<void> {
  const { t, records } = await readBatch(line, blobs);
  for (const record of records) {
    for (const change of changesOf(fold, record, t, line)) addChange(portion, await withText(change, blobs));
  }
  portion.end = line.end;
}

function changesOf(fold: SearchFold, record: Parameters<typeof applySearchRecord>[1], t: number, line: Line) {
  try {
    return applySearchRecord(fold, record, t);
  } catch (error) {
    throw damagedAt(line.offset, error);
  }
}

async function withText(change: SearchChange, blobs: BlobStore): Promise<WritableChange> {
  if (change.kind !== 'put') return change;
  const texts = await blobs.load(change.document.text);
  return { kind: 'put', document: { ...change.document, text: indexedText(texts.join('')) } };
}

/** Adds a change to those before it; documents that it removes again are never written. */
function addChange(portion: Portion, change: WritableChange): void {
  if (change.kind === 'removeFrom') {
    const { agentId, record } = change;
    portion.changes = portion.changes.filter(
      (earlier) => earlier.kind !== 'put' || earlier.document.agentId !== agentId || earlier.document.record < record,
    );
  } else if (change.document.text === '') return;
  else {
    portion.documents += 1;
    portion.units += change.document.text.length;
  }
  portion.changes.push(change);
}
