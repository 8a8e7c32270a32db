/** Documents that have the terms of a query, with their scores. */
import * as z from 'zod';
import type { Connection } from '#server/storage/derived-db.ts';
import type { Budget } from './budget.ts';
import { FILTERS, filterParameters } from './filters.ts';
import type { Query } from './query.ts';
import type { Match, Place } from './order.ts';
import { FREQUENCIES, quoted, withTerm } from './tables.ts';
import { windowsOf, type Window } from './windows.ts';

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
      const sql = 'SELECT count(*) AS count FROM words WHERE words MATCH @match AND rowid BETWEEN @low AND @high';
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

const ORDERS = {
  score: {
    order: 'score DESC, time DESC, sessionId, key',
    after: `(score < @score OR (score = @score AND (time < @time
      OR (time = @time AND (sessionId, key) > (@afterSession, @afterKey)))))`,
  },
  time_desc: {
    order: 'time DESC, sessionId, key',
    after: '(time < @time OR (time = @time AND (sessionId, key) > (@afterSession, @afterKey)))',
  },
  time_asc: {
    order: 'time, sessionId, key',
    after: '(time > @time OR (time = @time AND (sessionId, key) > (@afterSession, @afterKey)))',
  },
};

const rowSchema = z.object({
  postings: z.number(),
  candidates: z.number(),
  number: z.number().nullable(),
  score: z.number().nullable(),
  time: z.number().nullable(),
  sessionId: z.string().nullable(),
  key: z.string().nullable(),
});
const rowsSchema = z.array(rowSchema);

/** A document has one token of a term, so that only several terms have to be summed. */
const SINGLE = { weight: 'e.weight', postings: '1', group: '' };
const SUMMED = { weight: 'sum(e.weight)', postings: 'count(*)', group: 'GROUP BY words.rowid' };

/** The first matches of a window, after the counts of all: without a match there is one row of counts alone. */
function statementOf({ sort, terms }: Query, isFirst: boolean): string {
  const { order, after } = ORDERS[sort];
  const { weight, postings, group } = terms.length === 1 ? SINGLE : SUMMED;
  return `
  WITH expressions AS MATERIALIZED (
    SELECT value ->> 'match' AS match, value ->> 'weight' AS weight FROM json_each(@expressions)
  ), hits AS MATERIALIZED (
    SELECT words.rowid AS number, ${weight} AS weight, ${postings} AS postings
    FROM expressions e CROSS JOIN words
    WHERE words MATCH e.match AND words.rowid BETWEEN @low AND @high ${group}
  ), found AS MATERIALIZED (
    SELECT d.number, hits.weight * 1.0 / d.terms / ${SCALE} AS score, d.time, s.id AS sessionId, d.key
    FROM hits CROSS JOIN documents d ON d.number = hits.number CROSS JOIN sessions s ON s.number = d.session
    WHERE ${FILTERS}
  )
  SELECT counts.*, page.* FROM (
    SELECT (SELECT coalesce(sum(postings), 0) FROM hits) AS postings, (SELECT count(*) FROM found) AS candidates
  ) counts
  LEFT JOIN (SELECT * FROM found ${isFirst ? '' : `WHERE ${after}`} ORDER BY ${order} LIMIT @limit) page ON true`;
}

export interface TermMatching {
  query: Query;
  after: Place | undefined;
  frequencies: Frequencies;
  limit: number;
}

export interface WindowMatches {
  /** In order. */
  matches: Match[];
  /** Documents of the window that match, and those that were read for a term. */
  candidates: number;
  postings: number;
}

/** Returns a function that finds the first matches of a window. */
export function termMatches(
  { all }: Connection,
  { query, after, frequencies, limit }: TermMatching,
): (window: Window) => WindowMatches {
  const sql = statementOf(query, after === undefined);
  const parameters = {
    ...filterParameters(query.filters),
    expressions: expressionsOf(query, frequencies),
    limit,
    ...(after && { time: after.time, afterSession: after.sessionId, afterKey: after.key }),
    ...(after && query.sort === 'score' && { score: after.score }),
  };
  return (window) => {
    const rows = rowsSchema.parse(all(sql, { ...parameters, ...window }));
    const [{ candidates, postings } = { candidates: 0, postings: 0 }] = rows;
    const matches = rows.flatMap(({ number, score, time, sessionId, key }): Match[] =>
      number === null || score === null || time === null || sessionId === null || key === null
        ? []
        : [{ number, score, time, sessionId, key }],
    );
    return { matches, candidates, postings };
  };
}
