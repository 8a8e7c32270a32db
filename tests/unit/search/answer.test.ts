import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { searchRequestSchema } from '#schema/rest/search.ts';
import { answerSearch } from '#server/search/answer.ts';
import { budgetLimits, type BudgetLimits } from '#server/search/budget.ts';
import { indexJournal } from '#server/search/index-journal.ts';
import type { Hint } from '#server/search/messages.ts';
import { parseQuery } from '#server/search/query.ts';
import { removeSession } from '#server/search/sessions.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { openSearchDb, type SearchDb } from './search-db.ts';
import { openSearchHome, type SearchHome } from './search-home.ts';

const folder = useTemporaryFolder({ inMemory: true });
let home: SearchHome;
let search: SearchDb;
beforeEach(() => {
  home = openSearchHome(folder.path);
  search = openSearchDb(folder.path);
});
afterEach(() => {
  home.close();
  search.db.close();
});

interface More {
  size?: number;
  token?: string | undefined;
  live?: Hint;
  limits?: Partial<BudgetLimits>;
  session?: string;
}

function answer(words: string, { size = 20, token, live, limits, session }: More = {}) {
  const container = session === undefined ? {} : { container: { session_id: session } };
  const query = parseQuery(searchRequestSchema.parse({ query: words, ...container }), undefined);
  const { db, connection } = search;
  return answerSearch(
    { db, connection, failure: () => undefined, limits: { ...budgetLimits, milliseconds: Infinity, ...limits } },
    { query, size, token, live },
    new AbortController().signal,
  );
}

/** Indexes sessions as a fill does. */
async function index(...hints: Hint[]): Promise<void> {
  const options = { newest: false, goesOn: async () => true };
  for (const hint of hints) await indexJournal(search.connection, hint, hint.length, options);
}

const refusal = { name: 'validation.failed', details: [{ path: 'page_token' }] };

describe('an answer while the index is being built', () => {
  it('has what is indexed already, and cannot be continued', async () => {
    const a = await home.addSession('a', ['the lynx', 'a lynx']);
    await home.addSession('b', ['no lynx yet']);
    await index(a);
    const page = await answer('lynx', { size: 1 });
    expect(page).toMatchObject({ state: 'building', hasMore: false, indexedSessions: 1, documents: 2 });
    expect(page.found).toHaveLength(1);
    expect(page.token).toBeUndefined();
    search.db.markFilled();
    const { token, hasMore } = await answer('lynx', { size: 1 });
    expect(hasMore).toBe(true);
    expect((await answer('lynx', { size: 1, token })).found).toHaveLength(1);
  });

  it('refuses a token of the index before it', async () => {
    await index(await home.addSession('a', ['the lynx', 'a lynx']));
    search.db.markFilled();
    const { token } = await answer('lynx', { size: 1 });
    const building = { ...search.db, filled: () => false };
    search = { ...search, db: building };
    await expect(answer('lynx', { size: 1, token })).rejects.toMatchObject(refusal);
  });

  it('is complete for a loaded session, up to the length of its journal, with pages', async () => {
    const live = await home.addSession('a', ['the lynx', 'a lynx']);
    await index(await home.addSession('b', ['another lynx']));
    const options = { live, session: 'a', size: 1 };
    const first = await answer('lynx', options);
    expect(first).toMatchObject({ state: 'ready', documents: 2, hasMore: true });
    const second = await answer('lynx', { ...options, token: first.token });
    expect([...first.found, ...second.found].map(({ turn }) => turn).toSorted()).toEqual([0, 1]);
    expect(second.hasMore).toBe(false);
    search.db.markFilled();
    await expect(answer('lynx', { session: 'a', size: 1, token: first.token })).rejects.toMatchObject(refusal);
  });
});

describe('an answer about a loaded session', () => {
  it('reports that time was too short to index it, and has the rest at a later request', async () => {
    const prompts = Array.from({ length: 300 }, (_, turn) => `lynx ${turn}`);
    const live = await home.addSession('a', prompts);
    const late = await answer('lynx', { live, session: 'a', limits: { milliseconds: -1 } });
    expect(late).toMatchObject({ state: 'ready', incomplete: 'deadline' });
    expect(late.documents).toBeLessThan(prompts.length);
    const page = await answer('lynx', { live, session: 'a' });
    expect(page).toMatchObject({ documents: prompts.length, hasMore: true });
    expect(page.incomplete).toBeUndefined();
  });
});

describe('scores', () => {
  it('count archived sessions and no removed documents, and depend on no filter', async () => {
    const { connection } = search;
    const [a, b] = [await home.addSession('a', ['lynx']), await home.addSession('b', ['lynx', 'other words'])];
    await index(a, { ...b, archived: true });
    search.db.markFilled();
    const score = async (more?: More) => (await answer('lynx', more)).found.map((hit) => hit.score);
    const both = Math.log(1 + 3 / 2);
    expect(await score()).toEqual([expect.closeTo(both, 6)]);
    expect(await score({ session: 'a' })).toEqual([expect.closeTo(both, 6)]);
    await removeSession(connection, 'b');
    expect(await score()).toEqual([expect.closeTo(Math.log(1 + 1 / 1), 6)]);
  });
});
