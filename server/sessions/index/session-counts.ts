/** Numbers of sessions. */
import * as z from 'zod';
import type { Connection, SqlParameters } from '#server/storage/derived-db.ts';
import {
  archivedValues,
  coldConditions,
  coldOutcome,
  countConditions,
  filterParameters,
  hasBounds,
  rowConditions,
  type SessionFilter,
} from './session-filter.ts';

const workspaceCounts = z.array(z.object({ workspaceId: z.string(), sessions: z.number() }));

/** Returns the workspace ids with sessions of any kind, and their numbers. */
export function countByWorkspace(db: Connection): { workspaceId: string; sessions: number }[] {
  const sql = `SELECT workspace_id AS workspaceId, sum(sessions) AS sessions FROM session_counts
    GROUP BY workspace_id HAVING sum(sessions) > 0`;
  return workspaceCounts.parse(db.all(sql));
}

const numberRow = z.tuple([z.object({ sessions: z.number() })]);

function numberOf(db: Connection, sql: string, binding: SqlParameters): number {
  const [{ sessions }] = numberRow.parse(db.all(sql, binding));
  return sessions;
}

/** The rows of the session ids in a parameter, found by id: the order of a CROSS JOIN is fixed. */
export const rowsOf = (parameter: 'loaded' | 'matching'): string =>
  `(SELECT value AS given FROM json_each(@${parameter})) CROSS JOIN sessions ON sessions.id = given`;

/** Counts the sessions that the filter selects; reads rows only of loaded sessions, or of an index for time bounds. */
export function countSessions(db: Connection, filter: SessionFilter): number {
  const binding = filterParameters(filter);
  const row = rowConditions(filter);
  const archived = `archived IN (${archivedValues(filter).join(', ')})`;
  const count = (from: string, conditions: readonly string[]) =>
    numberOf(db, `SELECT count(*) AS sessions FROM ${from} WHERE ${[archived, ...conditions].join(' AND ')}`, binding);

  const matching = filter.status ? count(rowsOf('matching'), row) : 0;
  if (hasBounds(filter)) {
    const index = filter.workspaceIds ? 'sessions_grouped' : 'sessions_listed';
    return matching + count(`sessions INDEXED BY ${index}`, [...row, ...coldConditions(filter)]);
  }
  const sql = `SELECT coalesce(sum(sessions), 0) AS sessions FROM session_counts
    WHERE ${countConditions(filter).join(' AND ')}`;
  const stored = numberOf(db, sql, binding);
  // Loaded sessions are counted there by the outcome in their rows.
  const loaded = filter.status ? count(rowsOf('loaded'), [...row, ...coldOutcome(filter)]) : 0;
  return stored - loaded + matching;
}
