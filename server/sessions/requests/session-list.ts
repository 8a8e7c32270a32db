/** `GET /sessions`: the rows of one reply. */
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

/**
 * Rows newest first. Without `page_size` and `archived_only` everything that matches, `hasMore` false. Throws
 * `workspace.not_found` when `workspace_id` is not registered.
 */
export async function listSessions(query: SessionListQuery, deps: SessionListDeps): Promise<SessionPage> {
  const { workspace_id, page_size, busy } = query;
  const workspaceIds = workspace_id === undefined ? undefined : await deps.workspaces.aliases(workspace_id);
  await deps.index.ready();
  return deps.index.list({
    workspaceIds,
    archived: archivedOf(query),
    parent: query.parent,
    excludeEmpty: query.exclude_empty,
    cursor: cursorOf(query),
    busy: busy === undefined ? undefined : { wanted: busy, ids: deps.busyIds() },
    limit: page_size ?? (query.archived_only ? DEFAULT_PAGE_SIZE : undefined),
  });
}
