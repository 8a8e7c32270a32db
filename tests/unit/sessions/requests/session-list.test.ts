import { describe, expect, it } from 'vitest';
import { ServiceError } from '#server/errors/service-error.ts';
import { isPaged, listPortions, listSessions, type SessionListQuery } from '#server/sessions/requests/session-list.ts';
import type { SessionHeader } from '#server/sessions/index/session-header.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { openIndex, sessionRow, WORKSPACE } from '../index/index-fixtures.ts';

const OTHER = 'wd_two_000000000002';
const ALIAS = 'wd_one_0000000000aa';

async function listOf(indexed: SessionHeader[], busy: string[] = []) {
  const { index } = openIndex(await temporaryHome());
  await index.ready();
  for (const row of indexed) index.upsert(row, 0);
  const deps = {
    index,
    busyIds: () => busy,
    workspaces: {
      aliases: async (id: string) => {
        if (id === WORKSPACE) return [WORKSPACE, ALIAS];
        if (id === OTHER) return [OTHER];
        throw new ServiceError('workspace.not_found', `workspace ${id} does not exist`);
      },
    },
  };
  const shown = ({ rows: found, hasMore }: { rows: SessionHeader[]; hasMore: boolean }) => ({
    ids: found.map(({ id }) => id),
    hasMore,
  });
  return {
    index,
    portions: (query: SessionListQuery = {}) => listPortions(query, deps),
    async list(query: SessionListQuery = {}) {
      if (isPaged(query)) return shown(await listSessions(query, deps));
      const rows: SessionHeader[] = [];
      for await (const portion of listPortions(query, deps)) rows.push(...portion);
      return shown({ rows, hasMore: false });
    },
  };
}

const at = (id: string, updatedAt: number, members: Partial<SessionHeader> = {}) =>
  sessionRow(id, { updatedAt, ...members });
const ten = Array.from({ length: 10 }, (_, place) => at(`s${place}`, 1_000 + place));

describe('session list', () => {
  it('orders by time, then by id in byte order, newest first', async () => {
    const rows = ['a', 'B', 'ü', 'Z', '\u{1F600}', '\uFFFD'].map((id) => at(id, 5));
    const { list } = await listOf([...rows, at('newest', 6), at('oldest', 4)]);
    // UTF-8 puts U+1F600 above U+FFFD; UTF-16 would not.
    expect(await list()).toEqual({
      ids: ['newest', '\u{1F600}', '\uFFFD', 'ü', 'a', 'Z', 'B', 'oldest'],
      hasMore: false,
    });
  });

  it('returns everything without paging, the cursor still applied', async () => {
    const { list } = await listOf(ten);
    expect((await list()).ids).toHaveLength(10);
    expect(await list({ before_id: 's2' })).toEqual({ ids: ['s1', 's0'], hasMore: false });
    expect(await list({ after_id: 's7' })).toEqual({ ids: ['s9', 's8'], hasMore: false });
  });

  it('pages through ties without omitting or repeating one', async () => {
    const rows = Array.from({ length: 23 }, (_, place) =>
      at(`s${String(place).padStart(2, '0')}`, 1_000 + (place % 4)),
    );
    const { list } = await listOf(rows);
    const seen: string[] = [];
    for (let page = await list({ page_size: 5 }); ; page = await list({ page_size: 5, before_id: seen.at(-1) })) {
      seen.push(...page.ids);
      if (!page.hasMore) break;
    }
    expect(seen).toEqual((await list()).ids);
    expect(new Set(seen).size).toBe(23);
  });

  it('has no more when the page is exactly the count', async () => {
    const { list } = await listOf(ten);
    expect(await list({ page_size: 10 })).toMatchObject({ hasMore: false });
    expect(await list({ page_size: 9 })).toMatchObject({ hasMore: true });
  });

  it('returns the newest of the sessions newer than a cursor', async () => {
    const { list } = await listOf(ten);
    expect(await list({ after_id: 's2', page_size: 3 })).toEqual({ ids: ['s9', 's8', 's7'], hasMore: true });
    expect(await list({ after_id: 's6', page_size: 3 })).toEqual({ ids: ['s9', 's8', 's7'], hasMore: false });
  });

  it('accepts a cursor that the filters exclude, and returns nothing for an unknown one', async () => {
    const rows = [
      at('a', 1),
      at('archived', 2, { archived: true }),
      at('elsewhere', 3, { workspaceId: OTHER }),
      at('b', 4),
    ];
    const { list } = await listOf(rows);
    expect((await list({ before_id: 'archived' })).ids).toEqual(['a']);
    expect((await list({ after_id: 'archived', workspace_id: WORKSPACE })).ids).toEqual(['b']);
    expect((await list({ before_id: 'elsewhere', workspace_id: WORKSPACE })).ids).toEqual(['a']);
    expect(await list({ before_id: 'unknown', page_size: 1 })).toEqual({ ids: [], hasMore: false });
  });

  it('excludes archived sessions, includes them, or returns only them with paging', async () => {
    const archived = Array.from({ length: 25 }, (_, place) => at(`x${place}`, 100 + place, { archived: true }));
    const { list } = await listOf([...ten, ...archived]);
    expect((await list()).ids).toHaveLength(10);
    expect((await list({ include_archive: true })).ids).toHaveLength(35);
    const only = await list({ archived_only: true });
    expect(only.ids).toHaveLength(20);
    expect(only).toMatchObject({ hasMore: true });
    expect((await list({ archived_only: true, page_size: 100 })).ids).toHaveLength(25);
  });

  it('cuts a page of archived and other sessions in their common order', async () => {
    const rows = Array.from({ length: 40 }, (_, place) =>
      at(`s${String(place).padStart(2, '0')}`, Math.floor(place / 3), {
        archived: place % 5 < 2,
        ...(place % 4 === 0 ? {} : { lastPrompt: 'hi' }),
      }),
    );
    const { list } = await listOf(rows);
    for (const filter of [{}, { exclude_empty: true }, { busy: false }]) {
      const { ids } = await list({ include_archive: true, ...filter });
      const seen: string[] = [];
      for (let more = true; more;) {
        const page = await list({ include_archive: true, page_size: 7, before_id: seen.at(-1), ...filter });
        seen.push(...page.ids);
        more = page.hasMore;
      }
      expect(seen).toEqual(ids);
      expect(ids).toHaveLength('exclude_empty' in filter ? 30 : 40);
    }
  });

  it('drops sessions without a prompt on request', async () => {
    const { list } = await listOf([at('empty', 2), at('used', 1, { lastPrompt: 'hi' })]);
    expect((await list({ exclude_empty: true })).ids).toEqual(['used']);
  });

  it('filters by busy before the page is cut', async () => {
    const { list } = await listOf(ten, ['s1', 's3', 's9', 'gone']);
    expect(await list({ busy: true, page_size: 2 })).toEqual({ ids: ['s9', 's3'], hasMore: true });
    expect(await list({ busy: true, page_size: 3 })).toEqual({ ids: ['s9', 's3', 's1'], hasMore: false });
    expect(await list({ busy: false, page_size: 2 })).toEqual({ ids: ['s8', 's7'], hasMore: true });
    expect((await list({ busy: false })).ids).toHaveLength(7);
  });

  it('accepts all ids of a workspace, and refuses an unregistered one', async () => {
    const rows = [at('a', 1), at('b', 2, { workspaceId: ALIAS }), at('c', 3, { workspaceId: OTHER })];
    const { list } = await listOf(rows);
    expect((await list({ workspace_id: WORKSPACE })).ids).toEqual(['b', 'a']);
    expect((await list({ workspace_id: OTHER })).ids).toEqual(['c']);
    await expect(list({ workspace_id: 'wd_no_000000000009' })).rejects.toMatchObject({ code: 40410 });
  });

  it('reads the whole list in portions of 500, none twice whatever changes meanwhile', async () => {
    const rows = Array.from({ length: 1_203 }, (_, place) =>
      at(`s${String(place).padStart(4, '0')}`, 1_000 + (place >> 1)),
    );
    const { portions, index } = await listOf(rows);
    const sizes: number[] = [];
    const seen: string[] = [];
    for await (const portion of portions()) {
      sizes.push(portion.length);
      seen.push(...portion.map(({ id }) => id));
      // One that was not read moves to the top, one that was read is restored from a backup, others are new and archived.
      index.upsert(at('s0001', 5_000 + sizes.length), 0);
      index.patch('s1202', () => ({ updatedAt: 1_000 }));
      index.upsert(at(`new${sizes.length}`, 6_000), 0);
      index.patch('s0100', () => ({ archived: true }));
    }
    expect(sizes[0]).toBe(500);
    expect(sizes[1]).toBe(500);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.toSorted()).toEqual(
      rows
        .map(({ id }) => id)
        .filter((id) => !['s0001', 's0100'].includes(id))
        .toSorted(),
    );
  });
});
