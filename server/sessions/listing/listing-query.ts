/** The conditions of a request for the v2 session list, and the fingerprint that binds page tokens to them. */
import { createHash } from 'node:crypto';
import type { ActivityStatus } from '#schema/rest/session-listing.ts';
import type { SessionSort } from '../index/listed-sessions.ts';

/** The validated query of the endpoint; members have the names of its parameters. */
export interface ListingQuery {
  'workspace.id'?: string[] | undefined;
  'activity.status'?: ActivityStatus[] | undefined;
  /** Inclusive, ms since the epoch. */
  'meta.updated_after'?: number | undefined;
  'meta.updated_before'?: number | undefined;
  'meta.archived': boolean | 'all';
  'meta.has_prompt'?: boolean | undefined;
  view: 'flat' | 'by_workspace';
  /** Sessions in each group. */
  'group.page_size': number;
  sort: SessionSort;
  /** Whether items have git facts. */
  include: { git: boolean };
  /** Whether items have only id and archived. */
  fields: { projection: boolean };
  page_size: number;
  /** Number of the page, from 1. */
  page?: number | undefined;
  page_token?: string | undefined;
}

const FINGERPRINT_CHARS = 16;

/** Equal for queries that select the same pages; `page` and `page_token` are not part of it. */
export function fingerprintOf(query: ListingQuery): string {
  const conditions = [
    query['workspace.id']?.toSorted() ?? null,
    query['activity.status']?.toSorted() ?? null,
    query['meta.updated_after'] ?? null,
    query['meta.updated_before'] ?? null,
    query['meta.archived'],
    query['meta.has_prompt'] ?? null,
    query.view,
    query['group.page_size'],
    query.sort,
    query.include.git,
    query.page_size,
    query.fields.projection,
  ];
  return createHash('sha256').update(JSON.stringify(conditions)).digest('base64url').slice(0, FINGERPRINT_CHARS);
}
