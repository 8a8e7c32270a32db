/** Finds the documents of one page. */
import type { Incomplete } from '#schema/rest/search.ts';
import type { Connection } from '#server/storage/derived-db.ts';
import { startBudget, type Budget, type BudgetLimits } from './budget.ts';
import { findLiteral } from './literal-matches.ts';
import { orderOf, type Match, type Place } from './order.ts';
import type { Query } from './query.ts';
import { frequenciesOf, termMatches, type Frequencies, type WindowMatches } from './term-matches.ts';
import { windowsOf, type Window } from './windows.ts';

export interface MatchPage {
  matches: Match[];
  hasMore: boolean;
  incomplete?: Incomplete | undefined;
  /** The first page's; later pages score with them too. */
  frequencies: Frequencies;
}

export interface PageRequest {
  query: Query;
  size: number;
  after?: Place | undefined;
  /** The first page's; absent for the first page itself. */
  frequencies?: Frequencies | undefined;
  limits: BudgetLimits;
  /** Throws to end the query, when its client has gone. */
  checkAborted(): void;
}

const noFrequencies: Frequencies = { documents: 0, counts: [] };

/** Finds one page. Rejects with what `checkAborted` throws, and with errors of SQLite. */
export async function findPage(connection: Connection, request: PageRequest): Promise<MatchPage> {
  const { query, size, after, limits, checkAborted } = request;
  const budget = startBudget(query.mode, limits, checkAborted);
  let { frequencies = noFrequencies } = request;
  let matches: Match[] = [];
  if (query.mode === 'literal') matches = await findLiteral(connection, { query, after, wanted: size + 1, budget });
  else if (query.terms.length > 0) {
    frequencies = request.frequencies ?? (await frequenciesOf(connection, query.terms, budget));
    // A term that no document has ends a search for all terms.
    const isHopeless = query.op === 'AND' && frequencies.counts.includes(0);
    const matchesIn = termMatches(connection, { query, after, frequencies, limit: size + 1 });
    if (!isHopeless) matches = await collect(connection, { query, wanted: size + 1, budget, matchesIn });
  }
  return {
    matches: matches.slice(0, size),
    hasMore: matches.length > size,
    incomplete: budget.incomplete,
    frequencies,
  };
}

interface Collecting {
  query: Query;
  wanted: number;
  budget: Budget;
  matchesIn: (window: Window) => WindowMatches;
}

/** The first matches of all windows. */
async function collect(connection: Connection, { query, wanted, budget, matchesIn }: Collecting): Promise<Match[]> {
  const order = orderOf(query);
  const windows = windowsOf(connection, query.filters.sessionId, budget.firstWindow);
  let first: Match[] = [];
  for (let next = windows.next(); !next.done && (await budget.mayRead());) {
    const begun = performance.now();
    const { matches, candidates, postings } = matchesIn(next.value);
    budget.candidates += candidates;
    budget.postings += postings;
    first = [...first, ...matches].sort(order).slice(0, wanted);
    next = windows.next(performance.now() - begun);
  }
  return first;
}
