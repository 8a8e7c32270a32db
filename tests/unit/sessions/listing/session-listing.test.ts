/** The v2 session list of random homes, compared with a naive implementation. */
import { expect, it } from 'vitest';
import type { Session } from '#schema/rest/session.ts';
import type { ActivityStatus } from '#schema/rest/session-listing.ts';
import { sessionOfHeader, type SessionHeader } from '#server/sessions/index/session-header.ts';
import type { ListingQuery } from '#server/sessions/listing/listing-query.ts';
import { activityOf, type ListedLive } from '#server/sessions/listing/session-item.ts';
import { readListing, type SessionListingDeps } from '#server/sessions/listing/session-listing.ts';
import type { WorkspaceIds } from '#server/workspaces/workspaces.ts';
import { listingQuery } from '#utils/session-listing-query.ts';
import { integer, pick, seeded, type Random } from '#support/random.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { openIndex, sessionRow } from '../index/index-fixtures.ts';
import { naiveGroups, naiveList, type NaiveHome, type NaiveSession } from './naive-listing.ts';

const HOMES = 300;
const QUERIES = 12;
const STATUSES: ActivityStatus[] = ['running', 'approval', 'question', 'failed', 'idle'];

/** Roots and their ids: two have aliases. */
const ROOTS: WorkspaceIds[] = [
  { root: '/p/one', ids: ['wd_one_2', 'wd_one_1', 'wd_old_9'] },
  { root: '/p/two', ids: ['wd_two_1'] },
  { root: '/p/three', ids: ['wd_three_1', 'wd_three_0'] },
  { root: '/p/four', ids: ['wd_four_1'] },
];
const byId = new Map(ROOTS.flatMap((workspace) => workspace.ids.map((id) => [id, workspace] as const)));
const aliases = (id: string) => byId.get(id)?.ids ?? [id];
/** The last one is not registered. */
const WORKSPACES = [...byId.keys(), 'wd_unregistered_1'];

function randomRow(random: Random, id: string, ids: readonly string[]): SessionHeader {
  const archived = random() < 0.3;
  const parent = random() < 0.2 ? { parent_session_id: pick(random, ids), child_session_kind: 'child' } : {};
  const workspaceId = pick(random, WORKSPACES);
  return sessionRow(id, {
    workspaceId,
    cwd: byId.get(workspaceId)?.root ?? '/p/unregistered',
    createdAt: 1_000 + integer(random, 6),
    updatedAt: 1_000 + integer(random, 8),
    archived,
    ...(archived && random() < 0.8 ? { archivedAt: 2_000 } : {}),
    ...(random() < 0.6 ? { lastPrompt: pick(random, ['Hi', '']) } : {}),
    ...(random() < 0.7 ? { lastTurnReason: pick(random, ['completed', 'cancelled', 'failed'] as const) } : {}),
    custom: parent,
  });
}

const WORK: Record<ActivityStatus, Partial<Session>> = {
  approval: { busy: true, main_turn_active: true, pending_interaction: 'approval' },
  question: { busy: true, pending_interaction: 'question', last_turn_reason: 'failed' },
  running: { busy: true, main_turn_active: true },
  failed: { last_turn_reason: 'failed' },
  idle: { last_turn_reason: 'completed' },
};

/** A loaded session: its present status may differ from that in its row. */
const liveOf = (id: string, status: ActivityStatus): ListedLive => ({
  id,
  view(row) {
    const { last_turn_reason: _stored, ...session } = sessionOfHeader(row, undefined);
    return { ...session, ...WORK[status] };
  },
  boundModel: () => 'model',
});

const gitFacts = { read: async () => new Map() };

const some = <T>(random: Random, items: readonly T[]) =>
  Array.from({ length: 1 + integer(random, 3) }, () => pick(random, items));

/** A random query, parsed as from a request. */
function randomQuery(random: Random): ListingQuery {
  const may = (chance: number, parameters: Record<string, string | string[]>) => (random() < chance ? parameters : {});
  const time = () => String(998 + integer(random, 12));
  const grouped = random() < 0.5;
  return listingQuery.parse({
    ...may(0.4, { 'workspace.id': some(random, [...WORKSPACES, 'wd_unknown_1']) }),
    ...may(0.5, { 'activity.status': some(random, STATUSES) }),
    ...may(0.2, { 'meta.updated_after': time() }),
    ...may(0.2, { 'meta.updated_before': time() }),
    ...may(0.6, { 'meta.archived': pick(random, ['true', 'false', 'all']) }),
    ...may(0.3, { 'meta.has_prompt': pick(random, ['true', 'false']) }),
    ...may(0.7, { sort: pick(random, ['meta.updated_at_desc', 'meta.updated_at_asc', 'meta.created_at_desc']) }),
    ...may(0.3, { fields: 'id,archived' }),
    ...(grouped ? { view: 'by_workspace', ...may(0.5, { 'group.page_size': String(1 + integer(random, 4)) }) } : {}),
    page_size: String(1 + integer(random, 40)),
  });
}

/** All pages of the query, by token or by number: ids of sessions, or groups. */
async function readAll(query: ListingQuery, deps: SessionListingDeps, numbered: boolean): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let page = 1, page_token: string | undefined; ; page += 1) {
    const reply = await readListing({ ...query, ...(numbered ? { page } : { page_token }) }, deps);
    const items =
      'items' in reply
        ? reply.items.map(({ id }) => id)
        : reply.groups.map(({ workspace, sessions, total }) => ({
            id: workspace.id,
            sessions: sessions.map(({ id }) => id),
            total,
          }));
    all.push(...items);
    expect(items.length).toBeLessThanOrEqual(query.page_size);
    expect(reply.has_more).toBe(all.length < reply.total);
    if (!reply.has_more) {
      expect(reply.next_page_token).toBeNull();
      expect(reply.total).toBe(all.length);
      return all;
    }
    expect(reply.next_page_token === null).toBe(numbered);
    page_token = reply.next_page_token ?? undefined;
  }
}

it(`${HOMES} random homes are listed as a naive list`, async () => {
  const random = seeded(23);
  // A repair pass would remove the rows, which have no folders.
  const { index } = openIndex(await temporaryHome(), { repairEveryMs: 2 ** 31 - 1 });
  await index.ready();
  for (let home = 0; home < HOMES; home++) {
    // The rows of the homes replace each other, so that triggers count changes too.
    const ids = Array.from({ length: 24 }, (_, place) => `s${String(place).padStart(2, '0')}-${home % 10}`);
    const sessions: NaiveSession[] = [];
    const others = [...index.headers(allIds(index))].filter(([id]) => !ids.includes(id)).map(([, row]) => row);
    for (const row of others) sessions.push({ row, live: undefined });
    for (const id of ids) {
      const before = index.get(id);
      const drawn = randomRow(random, id, ids);
      // Neither the workspace nor the time of creation changes, and the time of the last update only rises.
      const row = before
        ? {
            ...drawn,
            workspaceId: before.workspaceId,
            createdAt: before.createdAt,
            updatedAt: Math.max(before.updatedAt, drawn.updatedAt),
          }
        : drawn;
      index.upsert(row, 0);
      index.patch(id, () => ({ archived: row.archived, archivedAt: row.archivedAt }));
      sessions.push({ row, live: random() < 0.3 ? pick(random, STATUSES) : undefined });
    }
    const live = sessions.flatMap(({ row, live: status }) => (status ? [liveOf(row.id, status)] : []));
    const deps: SessionListingDeps = {
      index,
      live: { all: () => live, get: (id) => live.find((session) => session.id === id) },
      workspaces: { byId: async () => byId },
      gitFacts,
    };
    const naive: NaiveHome = { sessions, aliases };
    for (let count = 0; count < QUERIES; count++) {
      const query = randomQuery(random);
      const expected = query.view === 'flat' ? naiveList(naive, query) : naiveGroups(naive, query);
      const listed = await readAll(query, deps, random() < 0.3);
      // A failure prints the query.
      expect({ query, listed }).toEqual({ query, listed: expected });
    }
  }
});

const allIds = (index: ReturnType<typeof openIndex>['index']) =>
  index.list({ archived: 'include' }).rows.map(({ id }) => id);

it.each<[ActivityStatus, Partial<Session>]>([
  ['approval', { pending_interaction: 'approval', busy: true, main_turn_active: true, last_turn_reason: 'failed' }],
  ['question', { pending_interaction: 'question', busy: true, main_turn_active: true }],
  ['running', { busy: true, last_turn_reason: 'failed' }],
  ['running', { main_turn_active: true }],
  ['failed', { last_turn_reason: 'failed' }],
  ['idle', { last_turn_reason: 'cancelled' }],
  ['idle', {}],
])('%s is the first status that applies to %o', (status, work) => {
  expect(activityOf({ ...sessionOfHeader(sessionRow('s'), undefined), ...work })).toBe(status);
});

it('takes the root of the workspace for a session without a directory, and null without either', async () => {
  // A repair pass would remove the rows, which have no folders.
  const { index } = openIndex(await temporaryHome(), { repairEveryMs: 2 ** 31 - 1 });
  await index.ready();
  index.upsert(sessionRow('a', { cwd: '', workspaceId: 'wd_two_1', updatedAt: 2 }), 0);
  index.upsert(sessionRow('b', { cwd: '', workspaceId: 'wd_unregistered_1', updatedAt: 1 }), 0);
  const deps = {
    index,
    live: { all: () => [], get: () => undefined },
    workspaces: { byId: async () => byId },
    gitFacts,
  };
  expect(await readListing(listingQuery.parse({}), deps)).toMatchObject({
    items: [{ workspace: { cwd: '/p/two' } }, { workspace: { cwd: null } }],
  });
  expect(await readListing(listingQuery.parse({ view: 'by_workspace', fields: 'id,archived' }), deps)).toMatchObject({
    groups: [{ workspace: { cwd: '/p/two' } }, { workspace: { cwd: null } }],
  });
});
