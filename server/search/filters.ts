/** SQL of the conditions that a query has for documents `d` of sessions `s`. */
import type { SqlParameters } from '#server/storage/derived-db.ts';
import type { QueryFilters } from './query.ts';

export const FILTERS = `s.archived = 0
  AND (@sessionId IS NULL OR s.id = @sessionId)
  AND (@agentId IS NULL OR d.agent = @agentId)
  AND (@workspaceIds IS NULL OR s.workspace_id IN (SELECT value FROM json_each(@workspaceIds)))
  AND (@role IS NULL OR d.role = @role)
  AND d.time BETWEEN @startTime AND @endTime`;

export const filterParameters = (filters: QueryFilters): SqlParameters => ({
  sessionId: filters.sessionId ?? null,
  agentId: filters.agentId ?? null,
  workspaceIds: filters.workspaceIds ? JSON.stringify(filters.workspaceIds) : null,
  role: filters.role ?? null,
  startTime: filters.startTime ?? 0,
  endTime: filters.endTime ?? Number.MAX_SAFE_INTEGER,
});
