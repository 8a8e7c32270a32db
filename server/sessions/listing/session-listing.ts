/** `GET /api/v2/sessions`: pages of the session index; status and model are those of loaded sessions. Loads nothing. */
import { createTimeSlice } from '#server/async/yield.ts';
import type { FlatPage, GroupedPage, SessionGroup, SessionItem, SessionListing } from '#schema/rest/session-listing.ts';
import type { GitFactsCache } from '#server/git/facts.ts';
import type { WorkspaceIds } from '#server/workspaces/workspaces.ts';
import { isDescending, type ListEntry, type ListKey } from '../index/listed-sessions.ts';
import type { SessionFilter, StatusFilter } from '../index/session-filter.ts';
import type { SessionHeader } from '../index/session-header.ts';
import type { SessionIndex } from '../index/session-index.ts';
import { fingerprintOf, type ListingQuery } from './listing-query.ts';
import { decodeToken, encodeToken } from './page-token.ts';
import { activityOf, directoryOf, itemOf, type ListedLive } from './session-item.ts';

export interface SessionListingDeps {
  index: Pick<SessionIndex, 'ready' | 'listed' | 'count' | 'firstKeys' | 'headers'>;
  live: { all(): readonly ListedLive[]; get(id: string): ListedLive | undefined };
  workspaces: { byId(): Promise<ReadonlyMap<string, WorkspaceIds>> };
  gitFacts: Pick<GitFactsCache, 'read'>;
}

/** Reads a page. Throws `page_token.mismatch`, and `persistence.failure` if the index cannot be read. */
export async function readListing(query: ListingQuery, deps: SessionListingDeps): Promise<SessionListing> {
  const after = query.page_token === undefined ? undefined : decodeToken(query.page_token, fingerprintOf(query));
  await deps.index.ready();
  const workspaces = await deps.workspaces.byId();
  const listing = { query, deps, workspaces, filter: filterOf(query, workspaces, deps), after };
  const page = query.view === 'flat' ? await readFlatPage(listing) : await readGroupedPage(listing);
  if (query.include.git) await addGitFacts(page, deps.gitFacts);
  return page;
}

/** Adds the git facts to the items of a page, by their directories. */
async function addGitFacts(page: SessionListing, gitFacts: SessionListingDeps['gitFacts']): Promise<void> {
  const all = 'items' in page ? page.items : page.groups.flatMap(({ sessions }) => sessions);
  const items = all.filter((item) => 'workspace' in item);
  const facts = await gitFacts.read(items.flatMap(({ workspace }) => workspace.cwd ?? []));
  for (const item of items) item.git = facts.get(item.workspace.cwd ?? '') ?? { branch: null, pull_request: null };
}

interface Listing {
  query: ListingQuery;
  deps: SessionListingDeps;
  workspaces: ReadonlyMap<string, WorkspaceIds>;
  filter: SessionFilter;
  /** The position after which the page starts. */
  after: ListKey | undefined;
}

function filterOf(
  query: ListingQuery,
  workspaces: Listing['workspaces'],
  deps: Pick<SessionListingDeps, 'index' | 'live'>,
): SessionFilter {
  const ids = query['workspace.id'];
  return {
    workspaceIds: ids && [...new Set(ids.flatMap((id) => workspaces.get(id)?.ids ?? [id]))],
    archived: query['meta.archived'],
    prompted: query['meta.has_prompt'],
    updated: { after: query['meta.updated_after'], before: query['meta.updated_before'] },
    status: statusFilterOf(query, deps),
  };
}

function statusFilterOf(
  query: ListingQuery,
  { index, live }: Pick<SessionListingDeps, 'index' | 'live'>,
): StatusFilter | undefined {
  const wanted = query['activity.status'];
  if (!wanted) return undefined;
  const sessions = live.all();
  const loaded = sessions.map(({ id }) => id);
  const rows = index.headers(loaded);
  const matching = sessions.flatMap((session) => {
    const row = rows.get(session.id);
    return row && wanted.includes(activityOf(session.view(row))) ? [session.id] : [];
  });
  return { loaded, matching, cold: { failed: wanted.includes('failed'), idle: wanted.includes('idle') } };
}

/** Number of items before the page that has a number. */
const offsetOf = ({ page, page_size }: ListingQuery) => (page === undefined ? 0 : (page - 1) * page_size);

/** The members that end a page; `last` is the position of its last item. */
function pageEnd({ page, ...query }: ListingQuery, total: number, hasMore: boolean, last: ListKey | undefined) {
  const token = hasMore && page === undefined && last ? encodeToken(last, fingerprintOf(query)) : null;
  return { total, has_more: hasMore, next_page_token: token };
}

/** Builds the items of sessions in portions that do not block the event loop; omits sessions removed meanwhile. */
async function itemsOf({ query, deps, workspaces }: Listing, listed: readonly ListEntry[]): Promise<SessionItem[]> {
  if (query.fields.projection) return listed.map(({ id, archived }) => ({ id, archived }));
  const items: SessionItem[] = [];
  const slice = createTimeSlice();
  for (let start = 0; start < listed.length; start += ROWS_AT_ONCE) {
    if (slice.due()) await slice.rest();
    const portion = listed.slice(start, start + ROWS_AT_ONCE);
    const rows = deps.index.headers(portion.map(({ id }) => id));
    for (const { id } of portion) {
      const row = rows.get(id);
      if (row) items.push(itemOf(row, deps.live.get(id), rootOf(workspaces, row)));
    }
  }
  return items;
}

const ROWS_AT_ONCE = 100;

const rootOf = (workspaces: Listing['workspaces'], { workspaceId }: SessionHeader) => workspaces.get(workspaceId)?.root;

async function readFlatPage(listing: Listing): Promise<FlatPage> {
  const { query, deps, filter, after } = listing;
  const { sort, page_size } = query;
  const total = deps.index.count(filter);
  const offset = offsetOf(query);
  if (offset >= total) return { items: [], ...pageEnd(query, total, false, undefined) };
  const found = deps.index.listed(filter, { sort, after, offset, limit: page_size + 1 });
  const listed = found.slice(0, page_size);
  const end = pageEnd(query, total, found.length > page_size, listed.at(-1));
  return { items: await itemsOf(listing, listed), ...end };
}

/** A workspace with matching sessions: the smallest id of its alias set, and the first session's key. */
interface Group extends ListKey {
  ids: readonly string[];
}

/** Returns the groups in their order: by the first session's key, ties by workspace id ascending. */
function orderedGroups({ query: { sort }, deps, filter, workspaces }: Listing): Group[] {
  const groups = new Map<string, Group>();
  const descending = isDescending(sort);
  for (const [workspaceId, key] of deps.index.firstKeys(filter, sort)) {
    const ids = workspaces.get(workspaceId)?.ids ?? [workspaceId];
    const id = ids.reduce((least, other) => (other < least ? other : least));
    const known = groups.get(id);
    if (!known || (descending ? key > known.key : key < known.key)) groups.set(id, { id, ids, key });
  }
  return [...groups.values()].sort((a, b) => comparePositions(a, b, descending));
}

const comparePositions = (a: ListKey, b: ListKey, descending: boolean): number => {
  if (a.key !== b.key) return descending ? b.key - a.key : a.key - b.key;
  return Number(a.id > b.id) - Number(a.id < b.id);
};

async function readGroupedPage(listing: Listing): Promise<GroupedPage> {
  const { query, after } = listing;
  const groups = orderedGroups(listing);
  const descending = isDescending(query.sort);
  const rest = after ? groups.filter((group) => comparePositions(group, after, descending) > 0) : groups;
  const offset = offsetOf(query);
  const page = rest.slice(offset, offset + query.page_size);
  const slice = createTimeSlice();
  const read: SessionGroup[] = [];
  for (const group of page) {
    if (slice.due()) await slice.rest();
    const sessions = await readGroup(listing, group);
    if (sessions) read.push(sessions);
  }
  return { groups: read, ...pageEnd(query, groups.length, rest.length > offset + query.page_size, page.at(-1)) };
}

/** Reads a group's first sessions; undefined if none is left since the groups were found. */
async function readGroup(listing: Listing, group: Group): Promise<SessionGroup | undefined> {
  const { query, deps } = listing;
  const filter = { ...listing.filter, workspaceIds: group.ids };
  const total = deps.index.count(filter);
  const listed = deps.index.listed(filter, { sort: query.sort, limit: query['group.page_size'] });
  const sessions = await itemsOf(listing, listed);
  const [first] = sessions;
  if (!first) return undefined;
  const cwd = 'workspace' in first ? first.workspace.cwd : directoryOfIndexed(listing, first.id);
  return { workspace: { id: group.id, cwd }, sessions, total };
}

function directoryOfIndexed({ deps, workspaces }: Listing, id: string): string | null {
  const row = deps.index.headers([id]).get(id);
  return row ? directoryOf(row, rootOf(workspaces, row)) : null;
}
