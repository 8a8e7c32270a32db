/** Documents that have the terms of a query, with their scores. */
import * as z from 'zod';
import type { Connection } from '#server/storage/derived-db.ts';
import type { Budget } from './budget.ts';
import { FILTERS, filterParameters } from './filters.ts';
import type { Query } from './query.ts';
import type { FindInWindow, Match, Place } from './order.ts';
import { FREQUENCIES, quoted, withTerm } from './tables.ts';
import { IN_WINDOW, windowsOf } from './windows.ts';

/** Numbers of documents on which scores depend: in the index, and with each term. */
export interface Frequencies {
  documents: number;
  counts: number[];
}

/** Weights are summed as integers, so that a score does not depend on the order of its terms. */
const SCALE = 2 ** 32;

const documentsRow = z.tuple([z.object({ documents: z.coerce.number() })]);
const countRow = z.tuple([z.object({ count: z.number() })]);

/** Counts the documents with each term, as far as the budget allows. */
export async function frequenciesOf(
  connection: Connection,
  terms: readonly string[],
  budget: Budget,
): Promise<Frequencies> {
  const { all } = connection;
  const [{ documents }] = documentsRow.parse(all(`SELECT value AS documents FROM facts WHERE name = 'documents'`));
  const counts: number[] = [];
  for (const term of terms) {
    let counted = 0;
    const windows = windowsOf(connection, undefined, budget.firstWindow);
    for (let next = windows.next(); !next.done && (await budget.mayRead());) {
      const begun = performance.now();
      const sql = `SELECT count(*) AS count FROM words WHERE words MATCH @match AND rowid ${IN_WINDOW}`;
      const [{ count }] = countRow.parse(all(sql, { match: withTerm(term), ...next.value }));
      counted += count;
      next = windows.next(performance.now() - begun);
    }
    counts.push(counted);
  }
  return { documents, counts };
}

/**
 * One FTS expression per term and number of occurrences, with its part of the score. With AND each demands the other
 * terms too: a rare term limits how many documents are read for a common one.
 */
function expressionsOf({ terms, op }: Query, { documents, counts }: Frequencies): string {
  const expressions = terms.flatMap((term, index) => {
    const df = Math.max(1, counts[index] ?? 0);
    const rarity = Math.log(1 + Math.max(documents, df) / df);
    const others = op === 'AND' ? terms.filter((other) => other !== term) : [];
    return FREQUENCIES.map(({ prefix, weight }) => ({
      match: [quoted(prefix + term), ...others.map(withTerm)].join(' AND '),
      weight: Math.round(weight * rarity * SCALE),
    }));
  });
  return JSON.stringify(expressions);
}

/** A position in the order without its ties, which are ordered by session and key. */
type Rank = Pick<Place, 'score' | 'time'>;

const [EARLIEST, LATEST] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
const DESCENDING = { first: { score: Number.MAX_VALUE, time: LATEST }, last: { score: 0, time: EARLIEST } };
const ASCENDING = { first: { score: 0, time: EARLIEST }, last: { score: 0, time: LATEST } };

/** `range` needs no session: SQLite joins only the documents inside it with their sessions. */
const ORDERS = {
  score: {
    order: 'score DESC, time DESC',
    // The first condition, which most documents do not meet, is compared in less time.
    range: 'score >= @lastScore AND (score, time) BETWEEN (@lastScore, @lastTime) AND (@firstScore, @firstTime)',
    isAfterTie: '(score, time) <> (@firstScore, @firstTime)',
    ...DESCENDING,
  },
  time_desc: {
    order: 'time DESC',
    range: 'time BETWEEN @lastTime AND @firstTime',
    isAfterTie: 'time <> @firstTime',
    ...DESCENDING,
  },
  time_asc: {
    order: 'time',
    range: 'time BETWEEN @firstTime AND @lastTime',
    isAfterTie: 'time <> @firstTime',
    ...ASCENDING,
  },
};

const rowSchema = z.object({
  postings: z.number(),
  atMost: z.number(),
  number: z.number().nullable(),
  score: z.number().nullable(),
  time: z.number().nullable(),
  sessionId: z.string().nullable(),
  key: z.string().nullable(),
});
const rowsSchema = z.array(rowSchema);

/**
 * A document has one token of a term, so that only several terms have to be summed. To read the hits of one term twice
 * takes less time than to store them.
 */
const SINGLE = { weight: 'e.weight', postings: '1', group: '', materialized: 'NOT MATERIALIZED' };
const SUMMED = {
  weight: 'sum(e.weight)',
  postings: 'count(*)',
  group: 'GROUP BY words.rowid',
  materialized: 'MATERIALIZED',
};

/** Documents with the terms. */
function hitsOf({ terms }: Query): string {
  const { weight, postings, group, materialized } = terms.length === 1 ? SINGLE : SUMMED;
  return `
  WITH expressions AS MATERIALIZED (
    SELECT value ->> 'match' AS match, value ->> 'weight' AS weight FROM json_each(@expressions)
  ), hits AS ${materialized} (
    SELECT words.rowid AS number, ${weight} AS weight, ${postings} AS postings
    FROM expressions e CROSS JOIN words
    WHERE words MATCH e.match AND words.rowid ${IN_WINDOW} ${group}
  )`;
}

const JOINED = 'hits CROSS JOIN documents d ON d.number = hits.number CROSS JOIN sessions s ON s.number = d.session';

/** The first matches of a window, after the numbers of all hits: without a match there is one row of numbers only. */
function statementOf(query: Query): string {
  const { order, range, isAfterTie } = ORDERS[query.sort];
  return `${hitsOf(query)}
  SELECT counts.*, page.* FROM (SELECT coalesce(sum(postings), 0) AS postings, count(*) AS atMost FROM hits) counts
  LEFT JOIN (
    SELECT d.number, hits.weight * 1.0 / d.terms / ${SCALE} AS score, d.time, s.id AS sessionId, d.key FROM ${JOINED}
    WHERE ${range} AND ${FILTERS} AND (${isAfterTie} OR (sessionId, key) > (@afterSession, @afterKey))
    ORDER BY ${order}, sessionId, key LIMIT @limit
  ) page ON true`;
}

const countOf = (query: Query): string => `${hitsOf(query)} SELECT count(*) AS count FROM ${JOINED} WHERE ${FILTERS}`;

export interface TermSearch {
  query: Query;
  after: Place | undefined;
  frequencies: Frequencies;
  /** Number of matches. */
  limit: number;
  budget: Budget;
}

/** Returns a function that finds the first matches of a window. */
export function termMatches(
  { all }: Connection,
  { query, after, frequencies, limit, budget }: TermSearch,
): FindInWindow {
  const sql = statementOf(query);
  const countSql = countOf(query);
  const ends = ORDERS[query.sort];
  const first: Rank = after ?? ends.first;
  const hits = { ...filterParameters(query.filters), expressions: expressionsOf(query, frequencies) };
  const page = {
    firstScore: first.score,
    firstTime: first.time,
    afterSession: after?.sessionId ?? '',
    afterKey: after?.key ?? '',
    limit,
  };
  return (window, { score: lastScore, time: lastTime }: Rank = ends.last) => {
    const rows = rowsSchema.parse(all(sql, { ...hits, ...page, lastScore, lastTime, ...window }));
    const [{ atMost, postings } = { atMost: 0, postings: 0 }] = rows;
    budget.postings += postings;
    budget.addCandidates(atMost, () => countRow.parse(all(countSql, { ...hits, ...window }))[0].count);
    return rows.flatMap(({ number, score, time, sessionId, key }): Match[] =>
      number === null || score === null || time === null || sessionId === null || key === null
        ? []
        : [{ number, score, time, sessionId, key }],
    );
  };
}
