/** Indexes the journal of a session, from where its last indexing ended. */
import { createBlobStore, type BlobStore } from '#server/journal/blobs.ts';
import { journalFiles, type JournalReader } from '#server/journal/journal-files.ts';
import { damagedAt, readBatch, readLines, type Line } from '#server/journal/line-reader.ts';
import { readHeader } from '#server/journal/replay.ts';
import type { Connection } from '#server/storage/derived-db.ts';
import { applySearchRecord, foldText, parseFold, type SearchChange, type SearchFold } from './search-rows.ts';
import { isBeingReset, readSession, resetSession, type IndexedSession, type JournalSource } from './sessions.ts';
import { addDocument, indexedText, nextNumber, removeFrom, type IndexedDocument } from './write-documents.ts';

/** A transaction ends after the line with which it has so many documents or UTF-16 units: other writers wait for it. */
const TRANSACTION = { documents: 64, units: 100_000 };

export interface IndexingOptions {
  /** Number the documents above all others: they are the most recent ones. */
  newest: boolean;
  /** Called between transactions; the indexing ends there if it resolves to false. */
  goesOn(): Promise<boolean>;
}

/** A change whose text is read. */
type WritableChange = Exclude<SearchChange, { kind: 'put' }> | { kind: 'put'; document: IndexedDocument };

/** Changes of consecutive lines. */
interface Portion {
  changes: WritableChange[];
  documents: number;
  units: number;
  /** Byte offset after its last line. */
  end: number;
}

/**
 * Indexes the complete lines up to byte `length` of the journal. A journal with another epoch, or a shorter one, is
 * indexed from its start. Rejects with `internal.error` for a damaged line, with errors of the file system and of SQLite.
 */
export async function indexJournal(
  connection: Connection,
  source: JournalSource,
  length: number,
  options: IndexingOptions,
): Promise<void> {
  const file = await journalFiles.openToRead(source.folder);
  try {
    const head = await readHeader(file);
    if (!head) return;
    const { epoch } = head.header;
    const end = Math.min(length, await file.size());
    // A server that indexes the same session may be ahead after each portion: then the state is read again.
    for (;;) {
      const session = readSession(connection, source, epoch);
      if (session.epoch !== epoch || session.length > end || isBeingReset(session)) {
        resetSession(connection, session.number, epoch);
        continue;
      }
      const isDone = await indexLines({ connection, file, session, start: head.end, end, options, source });
      if (isDone) return;
    }
  } finally {
    await file.close();
  }
}

interface LinesToIndex {
  connection: Connection;
  source: JournalSource;
  file: JournalReader;
  session: IndexedSession;
  /** Byte offset of the first line after the header. */
  start: number;
  end: number;
  options: IndexingOptions;
}

/** Returns false if another server has indexed the session meanwhile. */
async function indexLines({ connection, source, file, session, start, end, options }: LinesToIndex): Promise<boolean> {
  const fold = parseFold(session.fold);
  const blobs = createBlobStore(source.folder);
  let from = session.length;
  let portion: Portion = newPortion(from);

  async function write(): Promise<'written' | 'overtaken' | 'ended'> {
    if (portion.end === from) return 'written';
    if (!writePortion(connection, { session, from, portion, fold, newest: options.newest })) return 'overtaken';
    from = portion.end;
    portion = newPortion(from);
    return (await options.goesOn()) ? 'written' : 'ended';
  }

  for await (const lines of readLines(file, Math.max(from, start), end)) {
    for (const line of lines) {
      await addLine(portion, fold, line, blobs);
      if (portion.documents < TRANSACTION.documents && portion.units < TRANSACTION.units) continue;
      const result = await write();
      if (result !== 'written') return result === 'ended';
    }
  }
  return (await write()) !== 'overtaken';
}

const newPortion = (end: number): Portion => ({ changes: [], documents: 0, units: 0, end });

async function addLine(portion: Portion, fold: SearchFold, line: Line, blobs: BlobStore): Promise<void> {
  const { t, records } = await readBatch(line, blobs);
  for (const record of records) {
    for (const change of changesOf(fold, record, t, line)) {
      const writable = await withText(change, blobs);
      portion.changes.push(writable);
      if (writable.kind !== 'put') continue;
      portion.documents += 1;
      portion.units += writable.document.text.length;
    }
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

interface WrittenPortion {
  session: IndexedSession;
  /** Byte offset of its first line. */
  from: number;
  portion: Portion;
  /** The state after its last line. */
  fold: SearchFold;
  newest: boolean;
}

/** Thrown to roll a transaction back. */
class Overtaken extends Error {}

/** Writes the changes and the place that is reached; returns false, without a change, if that was not `from` any more. */
function writePortion(connection: Connection, { session, from, portion, fold, newest }: WrittenPortion): boolean {
  const { number, epoch } = session;
  const { changes, end } = portion;
  const reached = `UPDATE sessions SET length = @end, fold = @fold, failed_length = NULL
    WHERE number = @number AND length = @from AND epoch = @epoch`;
  try {
    connection.transaction(() => {
      if (connection.run(reached, { number, from, epoch, end, fold: foldText(fold) }) === 0) throw new Overtaken();
      let next = nextNumber(connection, newest);
      for (const change of changes) {
        if (change.kind === 'removeFrom') removeFrom(connection, number, change.agentId, change.record);
        else if (change.kind === 'removeTitle') removeFrom(connection, number, '', 0);
        else next = put(connection, next, number, change.document);
      }
    });
    return true;
  } catch (error) {
    if (error instanceof Overtaken) return false;
    throw error;
  }
}

/** Returns the number of the next document. A title replaces the one before; a text without content is none. */
function put(connection: Connection, number: number, session: number, document: IndexedDocument): number {
  if (document.role === 'title') removeFrom(connection, session, '', 0);
  if (document.text === '') return number;
  addDocument(connection, number, session, document);
  return number + 1;
}
