/** A client's query, checked and in the form in which it is compared with documents. */
import { invalidField } from '#server/errors/service-error.ts';
import type { SearchRequest } from '#schema/rest/search.ts';
import { normalized, queryTermsOf } from './words.ts';

export const MAX_TERMS = 32;
const LITERAL_CHARACTERS = { min: 2, max: 1024 };

export interface Query {
  mode: 'terms' | 'literal';
  /** Normalized. */
  text: string;
  /** The distinct terms; empty in literal mode. */
  terms: string[];
  op: 'AND' | 'OR';
  sort: 'score' | 'time_desc' | 'time_asc';
  filters: QueryFilters;
}

/** Conditions for documents; an absent one is met by all. */
export interface QueryFilters {
  sessionId?: string | undefined;
  agentId?: string | undefined;
  /** All ids of one workspace. */
  workspaceIds?: string[] | undefined;
  role?: 'user' | 'assistant' | 'title' | undefined;
  /** Milliseconds since the epoch, inclusive. */
  startTime?: number | undefined;
  endTime?: number | undefined;
}

/** Checks a request and returns its query; throws `validation.failed` at `query`. */
export function parseQuery(request: SearchRequest, workspaceIds: string[] | undefined): Query {
  const { mode, op, sort, container = {}, role, start_time: startTime, end_time: endTime } = request;
  const { session_id: sessionId, agent_id: agentId } = container;
  const filters = { sessionId, agentId, workspaceIds, role, startTime, endTime };
  if (mode === 'literal') return { mode, text: literalText(request.query), terms: [], op, sort, filters };
  const text = normalized(request.query.trim());
  if (text === '') throw invalidField('query', 'query must be a non-empty string');
  const terms = queryTermsOf(text);
  if (terms.length > MAX_TERMS) {
    const excess = `${terms.length} > ${MAX_TERMS}`;
    throw invalidField('query', `query has too many terms (${excess}); narrow it down`);
  }
  return { mode, text, terms, op, sort, filters };
}

function literalText(query: string): string {
  const text = normalized(query);
  const characters = [...text].length;
  const { min, max } = LITERAL_CHARACTERS;
  if (characters < min) {
    throw invalidField('query', `literal queries need at least ${min} characters (after Unicode normalization)`);
  }
  if (characters > max) throw invalidField('query', `literal queries are limited to ${max} characters`);
  return text;
}
