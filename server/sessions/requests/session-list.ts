/** `GET /api/v1/sessions`: the rows of one reply. */
import { yieldToLoop } from '#server/async/yield.ts';
import type { SessionHeader } from '../index/session-header.ts';
import type { SessionPage, PageQuery } from '../index/session-page.ts';
import type { SessionIndex } from '../index/session-index.ts';

/** The validated query of the endpoint. */
export interface SessionListQuery {
  before_id?: string | undefined;
  after_id?: string | undefined;
  page_size?: number | undefined;
  busy?: boolean | undefined;
  include_archive?: boolean | undefined;
  archived_only?: boolean | undefined;
  exclude_empty?: boolean | undefined;
  workspace_id?: string | undefined;
  /** Only children of this session. */
  parent?: string | undefined;
}

export interface SessionListDeps {
  index: Pick<SessionIndex, 'ready' | 'list'>;
  workspaces: {
    /** All ids of the workspace; throws `workspace.not_found` when it is not registered. */
    aliases(id: string): Promise<string[]>;
  };
  /** Sessions of this process that are busy now. */
  busyIds(): Iterable<string>;
}

const DEFAULT_PAGE_SIZE = 20;

const cursorOf = ({ before_id, after_id }: SessionListQuery): PageQuery['cursor'] => {
  if (before_id !== undefined) return { side: 'before', id: before_id };
  return after_id === undefined ? undefined : { side: 'after', id: after_id };
};

const archivedOf = ({ archived_only, include_archive }: SessionListQuery): PageQuery['archived'] => {
  if (archived_only) return 'only';
  return include_archive ? 'include' : 'exclude';
};

/** Rows of one portion of the whole list: reading and parsing them takes about 10 ms. */
const PORTION = 500;

/** Whether the reply is one page; otherwise it has all sessions that match. */
export const isPaged = ({ page_size, archived_only }: SessionListQuery): boolean =>
  page_size !== undefined || archived_only === true;

/** Throws `workspace.not_found`. */
async function pageQueryOf(query: SessionListQuery, deps: SessionListDeps): Promise<PageQuery> {
  const { workspace_id, busy } = query;
  const workspaceIds = workspace_id === undefined ? undefined : await deps.workspaces.aliases(workspace_id);
  await deps.index.ready();
  return {
    workspaceIds,
    archived: archivedOf(query),
    parent: query.parent,
    excludeEmpty: query.exclude_empty,
    cursor: cursorOf(query),
    busy: busy === undefined ? undefined : { wanted: busy, ids: deps.busyIds() },
  };
}

/** Reads one page, newest first. Throws `workspace.not_found` when `workspace_id` is not registered. */
export async function listSessions(query: SessionListQuery, deps: SessionListDeps): Promise<SessionPage> {
  const pageQuery = await pageQueryOf(query, deps);
  return deps.index.list({ ...pageQuery, limit: query.page_size ?? DEFAULT_PAGE_SIZE });
}

/**
 * Reads all sessions that match, newest first, each portion when it is requested. A session whose position changes
 * meanwhile may be missing; none is returned twice. Throws like `listSessions`.
 */
export async function* listPortions(
  query: SessionListQuery,
  deps: SessionListDeps,
): AsyncGenerator<SessionHeader[], undefined> {
  const pageQuery = await pageQueryOf(query, deps);
  const seen = new Set<string>();
  for (let olderThan: PageQuery['olderThan']; ;) {
    const { rows, hasMore } = deps.index.list({ ...pageQuery, olderThan, limit: PORTION });
    // The time of a session that was restored from a backup is an earlier one.
    yield rows.filter(({ id }) => !seen.has(id));
    if (!hasMore) return undefined;
    for (const { id } of rows) seen.add(id);
    olderThan = rows.at(-1);
    await yieldToLoop();
  }
}
