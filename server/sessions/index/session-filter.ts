/** Which sessions a list selects, as SQL conditions. */
import type { SqlParameters } from '#server/storage/derived-db.ts';
import { FAILED, PROMPTED } from './counts-table.ts';

/** Inclusive bounds of `updated_at`, in ms since the epoch. */
export interface TimeBounds {
  after?: number | undefined;
  before?: number | undefined;
}

/**
 * A status that is not in the index: the ids of the loaded sessions, and of those among them that match. Sessions that
 * are not loaded match by their last turn.
 */
export interface StatusFilter {
  loaded: readonly string[];
  matching: readonly string[];
  /** Whether a cold session matches if its last turn failed, and if it did not. */
  cold: { failed: boolean; idle: boolean };
}

export interface SessionFilter {
  /** Absent: all workspaces. */
  workspaceIds?: readonly string[] | undefined;
  archived: boolean | 'all';
  /** Whether the session has a prompt. */
  prompted?: boolean | undefined;
  updated?: TimeBounds | undefined;
  status?: StatusFilter | undefined;
}

export const hasBounds = ({ updated }: SessionFilter): boolean =>
  updated?.after !== undefined || updated?.before !== undefined;

/** The values of the column `archived` that the filter accepts: each is a separate part of the indexes. */
export const archivedValues = ({ archived }: SessionFilter): readonly (0 | 1)[] =>
  archived === 'all' ? [0, 1] : [archived ? 1 : 0];

/** The condition that a set of workspace ids contains the column; undefined without a set. */
function workspaceCondition({ workspaceIds }: SessionFilter): string | undefined {
  if (workspaceIds === undefined) return undefined;
  // An index yields the order of a list only with an equality.
  return workspaceIds.length === 1
    ? 'workspace_id = @workspace'
    : 'workspace_id IN (SELECT value FROM json_each(@workspaces))';
}

const isPresent = (condition: string | undefined | false): condition is string => typeof condition === 'string';

/** Conditions on a row, except those on `archived` and on the status. */
export function rowConditions(filter: SessionFilter): string[] {
  const { prompted, updated } = filter;
  return [
    workspaceCondition(filter),
    prompted !== undefined && `(${PROMPTED}) = ${Number(prompted)}`,
    updated?.after !== undefined && 'updated_at >= @updated_after',
    updated?.before !== undefined && 'updated_at <= @updated_before',
  ].filter(isPresent);
}

/** Like `rowConditions` for rows of the table of counts, which has no times. */
export function countConditions(filter: SessionFilter): string[] {
  const { prompted, status } = filter;
  return [
    workspaceCondition(filter),
    `archived IN (${archivedValues(filter).join(', ')})`,
    prompted !== undefined && `prompted = ${Number(prompted)}`,
    status && outcomeCondition(status, 'failed'),
  ].filter(isPresent);
}

/** The condition on a cold session's last outcome; undefined if all match. */
function outcomeCondition({ cold }: StatusFilter, failed: string): string | undefined {
  if (cold.failed && cold.idle) return undefined;
  return cold.failed || cold.idle ? `${failed} = ${Number(cold.failed)}` : '0';
}

/** Conditions on the last outcome in a row, as the status of a cold session. */
export function coldOutcome({ status }: SessionFilter): string[] {
  return [status && outcomeCondition(status, `(${FAILED})`)].filter(isPresent);
}

/** Conditions by which a row that no loaded session has matches the status. */
export function coldConditions(filter: SessionFilter): string[] {
  return filter.status ? [...coldOutcome(filter), 'id NOT IN (SELECT value FROM json_each(@loaded))'] : [];
}

/** The parameters of the conditions above. */
export function filterParameters({ workspaceIds, updated, status }: SessionFilter): SqlParameters {
  return {
    ...(workspaceIds?.length === 1 ? { workspace: workspaceIds[0] ?? '' } : {}),
    ...(workspaceIds && workspaceIds.length !== 1 ? { workspaces: JSON.stringify(workspaceIds) } : {}),
    ...(updated?.after === undefined ? {} : { updated_after: updated.after }),
    ...(updated?.before === undefined ? {} : { updated_before: updated.before }),
    ...(status ? { loaded: JSON.stringify(status.loaded), matching: JSON.stringify(status.matching) } : {}),
  };
}
