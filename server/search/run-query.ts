/** Finds the documents of one page. */
import type { Incomplete } from '#schema/rest/search.ts';
import type { Connection } from '#server/storage/derived-db.ts';
import { startBudget, type Budget, type BudgetLimits } from './budget.ts';
import { literalMatches, TEXTS_AT_ONCE } from './literal-matches.ts';
import { orderOf, type FindInWindow, type Match, type Place } from './order.ts';
import type { Query } from './query.ts';
import { frequenciesOf, termMatches, type Frequencies } from './term-matches.ts';
import { windowsOf } from './windows.ts';

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
  const wanted = size + 1;
  if (query.mode === 'literal') {
    const find = literalMatches(connection, { query, after, budget });
    matches = await collect(connection, { query, wanted, budget, find, firstWindow: TEXTS_AT_ONCE });
  } else if (query.terms.length > 0) {
    frequencies = request.frequencies ?? (await frequenciesOf(connection, query.terms, budget));
    // A term that no document has ends a search for all terms.
    const isHopeless = query.op === 'AND' && frequencies.counts.includes(0);
    const find = termMatches(connection, { query, after, frequencies, limit: wanted, budget });
    const { firstWindow } = budget;
    if (!isHopeless) matches = await collect(connection, { query, wanted, budget, find, firstWindow });
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
  find: FindInWindow;
  /** Number of documents. */
  firstWindow: number;
}

/** The first matches of all windows. */
async function collect(
  connection: Connection,
  { query, wanted, budget, find, firstWindow }: Collecting,
): Promise<Match[]> {
  const order = orderOf(query);
  const windows = windowsOf(connection, query.filters.sessionId, firstWindow);
  let first: Match[] = [];
  for (let next = windows.next(); !next.done && (await budget.mayRead());) {
    const begun = performance.now();
    const matches = await find(next.value, first[wanted - 1]);
    first = [...first, ...matches].sort(order).slice(0, wanted);
    next = windows.next(performance.now() - begun);
  }
  return first;
}
