/** Pages of the v1 session list, straight from SQLite. */
import * as z from 'zod';
import type { Connection, SqlParameters } from '#server/storage/derived-db.ts';
import { PROMPTED } from './counts-table.ts';
import { HEADER_MEMBERS, headerOfRow, IS_CHILD, PARENT_OF, type SessionHeader } from './session-header.ts';

/** A position in the list: that of a session, which may be removed or at another position meanwhile. */
export type ListPosition = Pick<SessionHeader, 'id' | 'updatedAt'>;

export interface PageQuery {
  /** Ids of one workspace, aliases included. Absent: all workspaces. */
  workspaceIds?: readonly string[] | undefined;
  archived: 'exclude' | 'include' | 'only';
  /** Only children of this session. */
  parent?: string | undefined;
  /** Drops sessions without a prompt. */
  excludeEmpty?: boolean | undefined;
  /**
   * Only sessions older than `before`, or newer than `after`; still newest first. The id of any existing session is
   * valid.
   */
  cursor?: { side: 'before' | 'after'; id: string } | undefined;
  /** Only sessions older than this position. */
  olderThan?: ListPosition | undefined;
  /** `wanted` true: only these sessions; false: all others. */
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

const ARCHIVED = { exclude: ['archived = 0'], only: ['archived = 1'], include: ['archived = 0', 'archived = 1'] };

/**
 * Reads one page, newest first by `updated_at`, ties by id descending in byte order. Filters apply before the cut, so
 * a page after a cursor is the newest part of what is newer. An unknown cursor gives an empty page.
 */
export function readPage(db: Connection, query: PageQuery): SessionPage {
  const { workspaceIds, archived, parent, excludeEmpty, cursor, olderThan, busy, limit } = query;
  const where: string[] = [];
  const binding: SqlParameters = { limit: limit === undefined ? -1 : limit + 1 };

  if (parent !== undefined) {
    where.push(`${PARENT_OF} = @parent`, IS_CHILD);
    binding.parent = parent;
  }
  // SQLite uses the index only for a comparison.
  if (excludeEmpty) where.push(`(${PROMPTED}) = 1`);
  if (workspaceIds?.length === 1) {
    // With an equality the index also yields the order; with a set, all rows would be sorted.
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
  if (olderThan) {
    where.push('(updated_at, id) < (@older_time, @older_id)');
    binding.older_time = olderThan.updatedAt;
    binding.older_id = olderThan.id;
  }
  // The plus keeps SQLite from walking the whole list in its order where the other filters leave few sessions.
  const few = parent !== undefined || busy?.wanted === true ? '+' : '';
  // The indexes separate archived from other sessions; SQLite merges the two parts in their common order.
  const parts = ARCHIVED[archived].map(
    (part) => `SELECT ${HEADER_MEMBERS} FROM sessions WHERE ${[few + part, ...where].join(' AND ')}`,
  );
  const sql = `${parts.join(' UNION ALL ')} ORDER BY updatedAt DESC, id DESC LIMIT @limit`;
  const found = db.all(sql, binding).map(headerOfRow);
  const hasMore = limit !== undefined && found.length > limit;
  return { rows: hasMore ? found.slice(0, limit) : found, hasMore };
}
