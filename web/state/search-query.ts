/** From the text and the choices of the search palette to a request. */
import type { SearchQuery } from '@service-code/client';
import { normalizeText } from '@service-code/client/text';

/** The fewest characters of a literal query. */
const LITERAL_MIN = 2;

export interface ParsedQuery {
  mode: 'terms' | 'literal';
  /** Without the quotes. */
  query: string;
}

export const searchScopes = ['session', 'project', 'all'] as const;
export const searchAuthors = ['all', 'user', 'assistant'] as const;
export const searchSorts = ['score', 'time_desc'] as const;

export interface SearchOptions {
  scope: (typeof searchScopes)[number];
  author: (typeof searchAuthors)[number];
  sort: (typeof searchSorts)[number];
}

/** The session that a search of the scopes `session` and `project` refers to. */
export interface SearchOrigin {
  sessionId?: string | undefined;
  workspaceId?: string | undefined;
}

const QUOTE = '["“”„＂]';
const QUOTED = new RegExp(`^\\s*${QUOTE}(.*?)(?:${QUOTE}\\s*)?$`, 's');

/** A text that starts with a quotation mark is literal, also while the closing one has not been typed yet. */
export function parseQuery(text: string): ParsedQuery {
  const [, quoted] = QUOTED.exec(text) ?? [];
  return quoted === undefined ? { mode: 'terms', query: text.trim() } : { mode: 'literal', query: quoted };
}

/** Whether the server accepts the query: words are not blank, a literal text has two characters. */
export const isSearchable = ({ mode, query }: ParsedQuery): boolean =>
  mode === 'terms' ? query !== '' : [...normalizeText(query)].length >= LITERAL_MIN;

/** The request without its page. */
export function searchRequest(
  { mode, query }: ParsedQuery,
  { scope, author, sort }: SearchOptions,
  { sessionId, workspaceId }: SearchOrigin,
): SearchQuery {
  return {
    query,
    mode,
    sort,
    ...(author !== 'all' && { role: author }),
    ...(scope === 'session' && sessionId !== undefined && { container: { session_id: sessionId } }),
    ...(scope === 'project' && workspaceId !== undefined && { container: { workspace_id: workspaceId } }),
  };
}
