/** Documents whose normalized text contains the query as it is written. */
import * as z from 'zod';
import type { Connection } from '#server/storage/derived-db.ts';
import type { Budget } from './budget.ts';
import { FILTERS, filterParameters } from './filters.ts';
import { orderOf, type FindInWindow, type Match, type Place } from './order.ts';
import type { Query } from './query.ts';
import { quoted, withTerm } from './tables.ts';
import { IN_WINDOW } from './windows.ts';
import { isUnspaced } from '#server/text/word-runs.ts';
import { normalized } from './words.ts';

/** Trigrams of a long query that select its candidates; each candidate's text is compared anyway. */
const MAX_TRIGRAMS = 32;
/** Texts that are compared between two checks of the budget, and documents of the first window. */
export const TEXTS_AT_ONCE = 100;

export interface LiteralSearch {
  query: Query;
  after: Place | undefined;
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

/** The statements read candidates in the order of their numbers: without a selection all documents. */
function statementsOf(selection: Selection | undefined) {
  const { table } = selection ?? { table: 'documents' };
  const documents = selection ? `${table} CROSS JOIN documents d ON d.number = ${table}.rowid` : 'documents d';
  const from = `${documents} CROSS JOIN sessions s ON s.number = d.session`;
  const number = selection ? `${table}.rowid` : 'd.number';
  const inWindow = `${selection ? `${table} MATCH @match AND ` : ''}${number} ${IN_WINDOW}`;
  return {
    texts: `SELECT d.number, d.time, s.id AS sessionId, d.key, t.text
      FROM ${from} CROSS JOIN texts t ON t.number = d.number
      WHERE ${inWindow} AND d.time BETWEEN @lastTime AND @firstTime AND ${FILTERS} ORDER BY ${number} LIMIT @limit`,
    atMost: `SELECT count(*) AS count FROM ${table} WHERE ${inWindow}`,
    count: `SELECT count(*) AS count FROM ${from} WHERE ${inWindow} AND ${FILTERS}`,
  };
}

const textRows = z.array(
  z.object({ number: z.number(), time: z.number(), sessionId: z.string(), key: z.string(), text: z.string() }),
);
const countRow = z.tuple([z.object({ count: z.number() })]);

/** Returns a function that finds the matches of a window. */
export function literalMatches({ all }: Connection, { query, after, budget }: LiteralSearch): FindInWindow {
  const order = orderOf(query);
  const selection = selectionOf(query.text);
  const sql = statementsOf(selection);
  const parameters = { ...filterParameters(query.filters), ...(selection && { match: selection.match }) };
  const firstTime = after?.time ?? Number.MAX_SAFE_INTEGER;
  const count = (statement: string, binding: object): number =>
    countRow.parse(all(statement, { ...parameters, ...binding }))[0].count;

  return async (window, last) => {
    const readsAll = after === undefined && last === undefined;
    const range = { firstTime, lastTime: last?.time ?? Number.MIN_SAFE_INTEGER, limit: TEXTS_AT_ONCE };
    const matches: Match[] = [];
    let { low } = window;
    for (let isMore = true; isMore;) {
      const rows = textRows.parse(all(sql.texts, { ...parameters, ...range, ...window, low }));
      if (selection && readsAll) budget.addCandidates(rows.length);
      for (const { text, ...place } of rows) {
        const match = { ...place, score: 0 };
        if (after && order(after, match) >= 0) continue;
        budget.textUnits += text.length;
        if (normalized(text).includes(query.text)) matches.push(match);
      }
      low = (rows.at(-1)?.number ?? low) + 1;
      isMore = rows.length === TEXTS_AT_ONCE && (await budget.mayRead());
    }
    if (selection && !readsAll) budget.addCandidates(count(sql.atMost, window), () => count(sql.count, window));
    return matches;
  };
}
