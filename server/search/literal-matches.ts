/** Documents whose normalized text contains the query as it is written. */
import * as z from 'zod';
import type { Connection } from '#server/storage/derived-db.ts';
import type { Budget } from './budget.ts';
import { FILTERS, filterParameters } from './filters.ts';
import { orderOf, type Match, type Place } from './order.ts';
import type { Query } from './query.ts';
import { quoted, withTerm } from './tables.ts';
import { windowsOf } from './windows.ts';
import { isUnspaced } from '#server/text/word-runs.ts';
import { normalized } from './words.ts';

/** Trigrams of a long query that select its candidates; each candidate's text is compared anyway. */
const MAX_TRIGRAMS = 32;
/** Texts that are compared between two checks of the budget. */
const TEXTS_AT_ONCE = 100;

export interface LiteralSearch {
  query: Query;
  after: Place | undefined;
  /** Number of matches. */
  wanted: number;
  budget: Budget;
}

/** The FTS table and expression that select candidates. */
interface Selection {
  table: 'trigrams' | 'words';
  match: string;
}

function trigramsOf(text: string): string[] {
  const characters = [...text];
  const trigrams = characters.slice(2).map((_, index) => characters.slice(index, index + 3).join(''));
  const distinct = [...new Set(trigrams)];
  const step = Math.max(1, Math.ceil(distinct.length / MAX_TRIGRAMS));
  return distinct.filter((_, index) => index % step === 0);
}

function selectionOf(text: string): Selection | undefined {
  const trigrams = trigramsOf(text);
  if (trigrams.length > 0) return { table: 'trigrams', match: trigrams.map(quoted).join(' AND ') };
  // Pairs of characters of scripts without spaces are terms.
  return [...text].length === 2 && isUnspaced(text) ? { table: 'words', match: withTerm(text) } : undefined;
}

const candidateRow = z.object({ number: z.number(), time: z.number(), sessionId: z.string(), key: z.string() });
const candidateRows = z.array(candidateRow);
const scannedRows = z.array(candidateRow.extend({ text: z.string() }));
const textRows = z.array(z.object({ text: z.string() }));

/** Finds the first matches in the order of the query. */
export async function findLiteral(connection: Connection, search: LiteralSearch): Promise<Match[]> {
  const { query, after, wanted } = search;
  const order = orderOf(query);
  const isBehind = (place: Place) => !after || order(after, place) < 0;
  const selection = selectionOf(query.text);
  const matches = selection
    ? await selected(connection, search, selection, isBehind)
    : (await scanned(connection, search)).filter(isBehind).sort(order);
  return matches.slice(0, wanted);
}

/** Collects the candidates of all windows, then compares their texts in order until there are enough matches. */
async function selected(
  connection: Connection,
  { query, wanted, budget }: LiteralSearch,
  { table, match }: Selection,
  isBehind: (place: Place) => boolean,
): Promise<Match[]> {
  const sql = `SELECT d.number, d.time, s.id AS sessionId, d.key
    FROM ${table} CROSS JOIN documents d ON d.number = ${table}.rowid CROSS JOIN sessions s ON s.number = d.session
    WHERE ${table} MATCH @match AND ${table}.rowid BETWEEN @low AND @high AND ${FILTERS}`;
  const parameters = { ...filterParameters(query.filters), match };
  const candidates: Match[] = [];
  const windows = windowsOf(connection, query.filters.sessionId, budget.firstWindow);
  for (let next = windows.next(); !next.done && (await budget.mayRead());) {
    const begun = performance.now();
    const rows = candidateRows.parse(connection.all(sql, { ...parameters, ...next.value }));
    budget.candidates += rows.length;
    candidates.push(...rows.map((row) => ({ ...row, score: 0 })).filter(isBehind));
    next = windows.next(performance.now() - begun);
  }
  const matches: Match[] = [];
  for (const [index, candidate] of candidates.sort(orderOf(query)).entries()) {
    if (matches.length === wanted || (index % TEXTS_AT_ONCE === 0 && !(await budget.mayCompare()))) break;
    const { number } = candidate;
    const [row] = textRows.parse(connection.all('SELECT text FROM texts WHERE number = @number', { number }));
    budget.textUnits += row?.text.length ?? 0;
    if (row && normalized(row.text).includes(query.text)) matches.push(candidate);
  }
  return matches;
}

/** Compares the text of every document: for two characters that nothing selects. */
async function scanned(connection: Connection, { query, budget }: LiteralSearch): Promise<Match[]> {
  const sql = `SELECT d.number, d.time, s.id AS sessionId, d.key, t.text
    FROM documents d JOIN sessions s ON s.number = d.session JOIN texts t ON t.number = d.number
    WHERE d.number BETWEEN @low AND @high AND ${FILTERS}`;
  const parameters = filterParameters(query.filters);
  const matches: Match[] = [];
  const windows = windowsOf(connection, query.filters.sessionId, TEXTS_AT_ONCE);
  for (let next = windows.next(); !next.done && (await budget.mayCompare());) {
    const begun = performance.now();
    const rows = scannedRows.parse(connection.all(sql, { ...parameters, ...next.value }));
    for (const { text, ...place } of rows) {
      budget.textUnits += text.length;
      if (normalized(text).includes(query.text)) matches.push({ ...place, score: 0 });
    }
    next = windows.next(performance.now() - begun);
  }
  return matches;
}
