/** The hits of the search palette: titles that the page has, and the server's hits. */
import type { SearchHit, Session } from '@service-code/client';
import { normalizeText, runsOf } from '@service-code/client/text';
import type { ParsedQuery, SearchOptions, SearchOrigin } from './search-query.ts';
import { knownTitleOf } from './session-list.ts';

/** The position of a message: a turn of an agent, and the step of an answer. */
export interface TurnTarget {
  sessionId: string;
  agentId: string;
  turn: number;
  stepId?: string | undefined;
}

const titles = new WeakMap<Session, string>();

/** The normalized title; sessions are replaced when they change. */
function normalizedTitle(session: Session): string {
  const known = titles.get(session) ?? normalizeText(knownTitleOf(session));
  titles.set(session, known);
  return known;
}

/**
 * The first sessions whose title contains every word of the query, or the literal query. Without a query, the first
 * sessions. A search by author or in one session finds no titles.
 */
export function matchingTitles(
  sessions: readonly Session[],
  { mode, query }: ParsedQuery,
  { scope, author }: SearchOptions,
  { workspaceId }: SearchOrigin,
  limit: number,
): Session[] {
  if (scope === 'session' || author !== 'all') return [];
  const text = normalizeText(query);
  const wanted = mode === 'literal' ? [text] : Array.from(runsOf(text), (run) => run.text);
  // Only punctuation, which is no word.
  if (wanted.length === 0 && text !== '') return [];
  const found: Session[] = [];
  for (const session of sessions) {
    if (found.length === limit) break;
    if (scope === 'project' && session.workspace_id !== workspaceId) continue;
    const title = normalizedTitle(session);
    if (wanted.every((word) => title.includes(word))) found.push(session);
  }
  return found;
}

/** Omits the server's title hits of sessions that are displayed already. */
export function withoutTitlesOf(hits: readonly SearchHit[], displayed: readonly Session[]): SearchHit[] {
  const ids = new Set(displayed.map(({ id }) => id));
  return hits.filter(({ role, session_id }) => role !== 'title' || !ids.has(session_id));
}

/** Undefined for titles, and for messages outside of turns. */
export function targetOf({ session_id, agent_id, turn, step_id }: SearchHit): TurnTarget | undefined {
  if (turn === undefined) return undefined;
  return { sessionId: session_id, agentId: agent_id, turn, stepId: step_id };
}

/** Identifies a hit across replies to the same query. */
export const hitKey = ({ session_id, agent_id, role, turn, step_id, time, snippet }: SearchHit): string =>
  JSON.stringify([session_id, agent_id, role, turn, step_id, time, snippet]);
