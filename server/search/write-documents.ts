/** Writes the documents of a session into the index's tables. */
import * as z from 'zod';
import type { Connection } from '#server/storage/derived-db.ts';
import type { SearchDocument } from './search-rows.ts';
import { FIRST_FRESH, FREQUENCIES } from './tables.ts';
import { normalized, storable, termsOf } from './words.ts';

/** UTF-16 units of a text that are indexed. */
const INDEXED_UNITS = 20_000;

/** A document whose text is read. */
export interface IndexedDocument extends Omit<SearchDocument, 'text'> {
  text: string;
}

const numberRow = z.tuple([z.object({ number: z.number().nullable() })]);
const numberRows = z.array(z.object({ number: z.number() }));

/** Returns the text as it is indexed; empty for a text without content. */
export function indexedText(text: string): string {
  const trimmed = storable(text).trim();
  if (trimmed.length <= INDEXED_UNITS) return trimmed;
  const last = trimmed.charCodeAt(INDEXED_UNITS - 1);
  return trimmed.slice(0, last >= 0xd8_00 && last <= 0xdb_ff ? INDEXED_UNITS - 1 : INDEXED_UNITS);
}

/** The text of `words`: one token of each term. */
function tokensOf(terms: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  let tokens = '';
  for (const [term, count] of counts) {
    const { prefix = '' } = FREQUENCIES.find(({ least }) => count >= least) ?? {};
    tokens += `${prefix}${term} `;
  }
  return tokens;
}

/**
 * Returns the number of the next document. Both kinds are appended, because pages of a table that grows at its end are
 * full: `newest` documents from `FIRST_FRESH` on, those of a fill, which begins with the most recent ones, below it.
 */
export function nextNumber({ all }: Connection, newest: boolean): number {
  const [first, end] = newest ? [FIRST_FRESH, Number.MAX_SAFE_INTEGER] : [1, FIRST_FRESH];
  const sql = 'SELECT max(number) + 1 AS number FROM documents WHERE number >= @first AND number < @end';
  const [{ number }] = numberRow.parse(all(sql, { first, end }));
  return number ?? first;
}

/** Changes the numbers of documents, of the index and of a session. */
function count({ run }: Connection, session: number, added: number): void {
  run(`UPDATE facts SET value = value + @added WHERE name = 'documents'`, { added });
  run('UPDATE sessions SET documents = documents + @added WHERE number = @session', { session, added });
}

/** Adds documents of a session, whose texts are those of `indexedText`, under unused numbers from `first` on. */
export function addDocuments(
  connection: Connection,
  first: number,
  session: number,
  documents: readonly IndexedDocument[],
): void {
  for (const [place, document] of documents.entries()) addDocument(connection, first + place, session, document);
  if (documents.length > 0) count(connection, session, documents.length);
}

function addDocument({ run }: Connection, number: number, session: number, document: IndexedDocument): void {
  const { agentId, record, part, time, turn = null, step = null, text } = document;
  const comparable = normalized(text);
  const terms = termsOf(comparable);
  run(`INSERT INTO documents VALUES (@number, @session, @agent, @record, @part, @time, @turn, @step, @terms)`, {
    number,
    session,
    agent: agentId,
    record,
    part,
    time,
    turn,
    step,
    terms: terms.length,
  });
  run('INSERT INTO texts VALUES (@number, @text)', { number, text });
  run('INSERT INTO words (rowid, terms) VALUES (@number, @tokens)', { number, tokens: tokensOf(terms) });
  run('INSERT INTO trigrams (rowid, text) VALUES (@number, @comparable)', { number, comparable });
}

function removeNumbers(connection: Connection, session: number, rows: unknown[]): void {
  const { run } = connection;
  if (rows.length > 0) count(connection, session, -rows.length);
  for (const { number } of numberRows.parse(rows)) {
    run('DELETE FROM words WHERE rowid = @number', { number });
    run('DELETE FROM trigrams WHERE rowid = @number', { number });
    run('DELETE FROM texts WHERE number = @number', { number });
    run('DELETE FROM documents WHERE number = @number', { number });
  }
}

/** Removes the documents of an agent that were recorded at or after a number. */
export function removeFrom(connection: Connection, session: number, agent: string, record: number): void {
  const sql = 'SELECT number FROM documents WHERE session = @session AND agent = @agent AND record >= @record';
  removeNumbers(connection, session, connection.all(sql, { session, agent, record }));
}

/** Removes at most `limit` documents of a session; returns whether some are left. */
export function removeSome(connection: Connection, session: number, limit: number): boolean {
  const sql = 'SELECT number FROM documents WHERE session = @session LIMIT @limit';
  const rows = connection.all(sql, { session, limit });
  removeNumbers(connection, session, rows);
  return rows.length === limit;
}
