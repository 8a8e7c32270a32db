/** The order of the v2 session list: the selected sessions between two positions, straight from the indexes. */
import * as z from 'zod';
import type { Connection, SqlParameters } from '#server/storage/derived-db.ts';
import { countSessions, rowsOf } from './session-counts.ts';
import {
  archivedValues,
  coldConditions,
  countConditions,
  filterParameters,
  hasBounds,
  rowConditions,
  type SessionFilter,
} from './session-filter.ts';

export type SessionSort = 'meta.updated_at_desc' | 'meta.updated_at_asc' | 'meta.created_at_desc';

interface Order {
  key: 'updated_at' | 'created_at';
  /** The key's direction; ties are in the other direction of the id. */
  descending: boolean;
}

const ORDERS: Record<SessionSort, Order> = {
  'meta.updated_at_desc': { key: 'updated_at', descending: true },
  'meta.updated_at_asc': { key: 'updated_at', descending: false },
  'meta.created_at_desc': { key: 'created_at', descending: true },
};

export const isDescending = (sort: SessionSort): boolean => ORDERS[sort].descending;

/** A position in the list: a session's value of the sort's key, in ms, and its id. */
export interface ListKey {
  key: number;
  id: string;
}
export type ListEntry = ListKey & { archived: boolean };

export interface ListRange {
  sort: SessionSort;
  /** Only sessions strictly after this position, whether or not a session has it. */
  after?: ListKey | undefined;
  /** Number of sessions to skip. */
  offset?: number | undefined;
  limit: number;
}

const listedRows = z.array(
  z.object({ key: z.number(), id: z.string(), archived: z.literal([0, 1]).transform(Boolean) }),
);

/** Sorting this many rows takes less time than walking the list until enough of them are found. */
const FEW_SESSIONS = 10_000;

/** The index that yields the filter's sessions with the least work; each contains the columns that filters read. */
function indexFor(db: Connection, filter: SessionFilter, { key }: Order): string {
  const { workspaceIds, archived } = filter;
  if (workspaceIds?.length === 1) return 'sessions_grouped';
  if (workspaceIds && countSessions(db, { workspaceIds, archived }) <= FEW_SESSIONS) return 'sessions_grouped';
  return key === 'created_at' && !hasBounds(filter) ? 'sessions_created' : 'sessions_listed';
}

/** Reads the selected sessions in the order of the sort. */
export function readListed(db: Connection, filter: SessionFilter, range: ListRange): ListEntry[] {
  const order = ORDERS[range.sort];
  const { key, descending } = order;
  const binding: SqlParameters = { ...filterParameters(filter), limit: range.limit, offset: range.offset ?? 0 };
  const conditions = rowConditions(filter);
  if (range.after) {
    const [past, next] = descending ? ['<=', '<='] : ['>=', '>='];
    // The first comparison is the one that an index serves.
    conditions.push(`${key} ${past} @after_key`, `NOT (${key} = @after_key AND id ${next} @after_id)`);
    binding.after_key = range.after.key;
    binding.after_id = range.after.id;
  }
  const parts: string[] = [];
  const part = (from: string, where: readonly string[]) =>
    parts.push(`SELECT ${key} AS key, id, archived FROM ${from} WHERE ${where.join(' AND ')}`);
  const { cold } = filter.status ?? {};
  if (!cold || cold.failed || cold.idle) {
    const indexed = `sessions INDEXED BY ${indexFor(db, filter, order)}`;
    for (const value of archivedValues(filter)) {
      part(indexed, [`archived = ${value}`, ...conditions, ...coldConditions(filter)]);
    }
  }
  if (filter.status) {
    part(rowsOf('matching'), [`archived IN (${archivedValues(filter).join(', ')})`, ...conditions]);
  }
  // SQLite merges the parts in their common order.
  const sql = `${parts.join(' UNION ALL ')}
    ORDER BY key ${descending ? 'DESC, id' : ', id DESC'} LIMIT @limit OFFSET @offset`;
  return listedRows.parse(db.all(sql, binding));
}

const firstRows = z.array(z.object({ workspaceId: z.string(), key: z.number().nullable() }));

/**
 * Returns the first key of each workspace id with selected sessions. It is read from the index for each workspace,
 * whose first matching entry it is; no more rows are read unless the sort's key is another one than the index has.
 */
export function firstKeys(db: Connection, filter: SessionFilter, sort: SessionSort): Map<string, number> {
  const { key, descending } = ORDERS[sort];
  const first = descending ? 'max' : 'min';
  const binding = filterParameters(filter);
  const found = new Map<string, number>();
  const add = (rows: unknown[]) => {
    for (const row of firstRows.parse(rows)) {
      if (row.key === null) continue;
      const known = found.get(row.workspaceId);
      if (known === undefined || (descending ? row.key > known : row.key < known)) found.set(row.workspaceId, row.key);
    }
  };
  const conditions = rowConditions(filter);
  const counted = countConditions(filter);
  for (const value of archivedValues(filter)) {
    const where = [`archived = ${value}`, 'workspace_id = counted.id', ...conditions, ...coldConditions(filter)];
    add(
      db.all(
        `SELECT counted.id AS workspaceId, (SELECT ${first}(${key}) FROM sessions INDEXED BY sessions_grouped
           WHERE ${where.join(' AND ')}) AS key
         FROM (SELECT DISTINCT workspace_id AS id FROM session_counts
           WHERE ${[...counted, 'sessions > 0'].join(' AND ')}) AS counted`,
        binding,
      ),
    );
  }
  if (filter.status) {
    const where = [`archived IN (${archivedValues(filter).join(', ')})`, ...conditions];
    add(
      db.all(
        `SELECT workspace_id AS workspaceId, ${first}(${key}) AS key FROM ${rowsOf('matching')}
         WHERE ${where.join(' AND ')} GROUP BY workspace_id`,
        binding,
      ),
    );
  }
  return found;
}
