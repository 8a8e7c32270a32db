/** The v2 session list as its rules describe it, computed from all sessions: the reference of the property test. */
import type { ActivityStatus } from '#schema/rest/session-listing.ts';
import type { SessionHeader } from '#server/sessions/index/session-header.ts';
import type { ListingQuery } from '#server/sessions/listing/listing-query.ts';

export interface NaiveSession {
  row: SessionHeader;
  /** The status of a session that is loaded. */
  live: ActivityStatus | undefined;
}

export interface NaiveHome {
  sessions: readonly NaiveSession[];
  /** All ids of the root of an id. */
  aliases(id: string): readonly string[];
}

/** Selected sessions in their order. */
function selected({ sessions, aliases }: NaiveHome, query: ListingQuery): SessionHeader[] {
  const ids = query['workspace.id']?.flatMap(aliases);
  const statuses = query['activity.status'];
  const status = ({ row, live }: NaiveSession) => live ?? (row.lastTurnReason === 'failed' ? 'failed' : 'idle');
  const key = keyOf(query);
  const direction = query.sort === 'meta.updated_at_asc' ? -1 : 1;
  return sessions
    .filter(({ row }) => !ids || ids.includes(row.workspaceId))
    .filter((session) => !statuses || statuses.includes(status(session)))
    .filter(({ row }) => row.updatedAt >= (query['meta.updated_after'] ?? 0))
    .filter(({ row }) => row.updatedAt <= (query['meta.updated_before'] ?? Infinity))
    .filter(({ row }) => query['meta.archived'] === 'all' || row.archived === query['meta.archived'])
    .filter(({ row }) => query['meta.has_prompt'] === undefined || Boolean(row.lastPrompt) === query['meta.has_prompt'])
    .map(({ row }) => row)
    .sort((a, b) => direction * (key(b) - key(a) || (a.id < b.id ? -1 : 1)));
}

const keyOf =
  ({ sort }: ListingQuery) =>
  (row: SessionHeader) =>
    sort === 'meta.created_at_desc' ? row.createdAt : row.updatedAt;

/** Ids of the whole flat list. */
export const naiveList = (home: NaiveHome, query: ListingQuery): string[] => selected(home, query).map(({ id }) => id);

export interface NaiveGroup {
  id: string;
  sessions: string[];
  total: number;
}

/** The whole list of groups. */
export function naiveGroups(home: NaiveHome, query: ListingQuery): NaiveGroup[] {
  const groups = new Map<string, SessionHeader[]>();
  for (const row of selected(home, query)) {
    const [id = ''] = home.aliases(row.workspaceId).toSorted();
    groups.set(id, [...(groups.get(id) ?? []), row]);
  }
  const key = keyOf(query);
  const direction = query.sort === 'meta.updated_at_asc' ? -1 : 1;
  const first = (rows: SessionHeader[]) => (rows[0] ? key(rows[0]) : 0);
  return [...groups]
    .sort(([a, ofA], [b, ofB]) => direction * (first(ofB) - first(ofA)) || (a < b ? -1 : 1))
    .map(([id, rows]) => ({
      id,
      sessions: rows.slice(0, query['group.page_size']).map((row) => row.id),
      total: rows.length,
    }));
}
