/** Pages of the session list, straight from SQLite. */
import { z } from 'zod';
import type { Connection, SqlParameters } from '#server/storage/index-db.ts';
import { IS_CHILD, PARENT_OF, type SessionHeader } from './session-header.ts';
import { sessionRows } from './session-rows.ts';

export interface PageQuery {
  /** Ids of one workspace, aliases included. Absent: all workspaces. */
  workspaceIds?: readonly string[] | undefined;
  archived: 'exclude' | 'include' | 'only';
  /** Children of this session alone. */
  parent?: string | undefined;
  /** Drops sessions without a prompt. */
  excludeEmpty?: boolean | undefined;
  /** Strictly older than `before`, or strictly newer than `after`; still newest first. Any existing session will do. */
  cursor?: { side: 'before' | 'after'; id: string } | undefined;
  /** True: these sessions alone. False: all others. */
  busy?: { wanted: boolean; ids: Iterable<string> } | undefined;
  /** Absent: everything. */
  limit?: number | undefined;
}

export interface SessionPage {
  rows: SessionHeader[];
  /** At least one more match follows in the direction of paging. */
  hasMore: boolean;
}

const cursorRows = z.array(z.object({ updated_at: z.number() }));
const inList = (column: string, name: string) => `${column} IN (SELECT value FROM json_each(@${name}))`;

/**
 * Reads one page, newest first by `updated_at`, ties by id descending in byte order. Filters apply before the cut, so
 * a page after a cursor is the newest part of what is newer. An unknown cursor gives an empty page.
 */
export function readPage(db: Connection, query: PageQuery): SessionPage {
  const { workspaceIds, archived, parent, excludeEmpty, cursor, busy, limit } = query;
  const where: string[] = [];
  const binding: SqlParameters = { limit: limit === undefined ? -1 : limit + 1 };

  // The plus keeps SQLite from walking the whole list in its order where the other filters leave few sessions.
  const few = workspaceIds !== undefined || parent !== undefined || busy?.wanted === true;
  if (archived !== 'include') where.push(`${few ? '+' : ''}archived = ${archived === 'only' ? 1 : 0}`);
  if (parent !== undefined) {
    where.push(`${PARENT_OF} = @parent`, IS_CHILD);
    binding.parent = parent;
  }
  if (excludeEmpty) where.push('last_prompt IS NOT NULL');
  if (workspaceIds?.length === 1) {
    // An equality lets the index give the order too; a set would be sorted whole.
    where.push('workspace_id = @workspace');
    binding.workspace = workspaceIds[0] ?? '';
  } else if (workspaceIds) {
    where.push(inList('workspace_id', 'workspaces'));
    binding.workspaces = JSON.stringify(workspaceIds);
  }
  if (busy) {
    where.push(busy.wanted ? inList('id', 'busy') : `NOT ${inList('id', 'busy')}`);
    binding.busy = JSON.stringify([...busy.ids]);
  }
  if (cursor) {
    const [at] = cursorRows.parse(db.all('SELECT updated_at FROM sessions WHERE id = @id', { id: cursor.id }));
    if (!at) return { rows: [], hasMore: false };
    where.push(`(updated_at, id) ${cursor.side === 'before' ? '<' : '>'} (@cursor_time, @cursor_id)`);
    binding.cursor_time = at.updated_at;
    binding.cursor_id = cursor.id;
  }
  const filter = where.length > 0 ? `WHERE ${where.join(' AND ')}` : '';
  const found = sessionRows.headers(db, `${filter} ORDER BY updated_at DESC, id DESC LIMIT @limit`, binding);
  const hasMore = limit !== undefined && found.length > limit;
  return { rows: hasMore ? found.slice(0, limit) : found, hasMore };
}
