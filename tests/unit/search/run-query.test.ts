import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchRequestSchema } from '#schema/rest/search.ts';
import { budgetLimits, type BudgetLimits } from '#server/search/budget.ts';
import type { Place } from '#server/search/order.ts';
import { parseQuery } from '#server/search/query.ts';
import { findPage, type MatchPage } from '#server/search/run-query.ts';
import { readSession, removeSession, setArchived } from '#server/search/sessions.ts';
import { addDocuments, indexedText, nextNumber, removeFrom } from '#server/search/write-documents.ts';
import { seeded } from '#support/random.ts';
import { temporaryFolder } from '#support/session-logs.ts';
import { openSearchDb, type SearchDb } from './search-db.ts';

let remove: () => Promise<void>;
let search: SearchDb;
const added: { session: string; record: number; text: string; time: number }[] = [];

/** Adds a document at the end of the index. */
function add(session: string, record: number, text: string, time: number, step?: number): void {
  const { connection } = search;
  const source = { id: session, workspaceId: `wd_${session}`, archived: false, folder: '' };
  const { number } = readSession(connection, source, 'e');
  connection.transaction(() => {
    const document = { agentId: 'main', record, part: 0, time, turn: 0, step, text: indexedText(text) };
    addDocuments(connection, nextNumber(connection, true), number, [document]);
  });
  added.push({ session, record, text, time });
}

beforeAll(async () => {
  const { path, remove: removeFolder } = await temporaryFolder({ inMemory: true });
  remove = removeFolder;
  search = openSearchDb(path);
  add('a', 1, 'zebrafish swim in the sea', 1);
  add('a', 2, 'the file ＡＢＣ and fooBar(baz) "quoted"', 2, 1);
  add('b', 1, '你好世界 and the sea', 3);
  add('b', 2, 'sea sea sea sea', 4);
  add('c', 1, 'line one\nline two with a NUL \0 inside', 5);
});
afterAll(async () => {
  search.db.close();
  await remove();
});

interface More {
  after?: Place;
  frequencies?: MatchPage['frequencies'];
  limits?: Partial<BudgetLimits>;
  workspaceIds?: string[];
}

function find(request: object, { after, frequencies, limits, workspaceIds }: More = {}): Promise<MatchPage> {
  const body = searchRequestSchema.parse(request);
  return findPage(search.connection, {
    query: parseQuery(body, workspaceIds),
    size: body.page_size,
    after,
    frequencies,
    limits: { ...budgetLimits, ...limits },
    checkAborted: () => undefined,
  });
}

/** The hits as `session/key`, in order. */
const hits = async (request: object, more?: More) =>
  (await find(request, more)).matches.map(({ sessionId, key }) => `${sessionId}/${key}`);

describe('a search for words', () => {
  it.each([
    ['whole words only', { query: 'zebra' }, []],
    ['any case', { query: 'ZebraFish' }, ['a/main.1.0']],
    ['parts of identifiers only as words', { query: 'foobar' }, ['a/main.2.0']],
    ['all words by default', { query: 'the sea swim' }, ['a/main.1.0']],
    ['one of them with OR', { query: 'swim quoted', op: 'OR' }, ['a/main.1.0', 'a/main.2.0']],
    ['pairs of Han characters', { query: '世界' }, ['b/main.1.0']],
    ['no term at all', { query: '!!!' }, []],
    ['a role', { query: 'the', role: 'assistant' }, ['a/main.2.0']],
    ['a session', { query: 'sea', container: { session_id: 'a' } }, ['a/main.1.0']],
    ['an unknown session', { query: 'sea', container: { session_id: 'x' } }, []],
    ['an agent', { query: 'sea', container: { agent_id: 'agent-1' } }, []],
    ['a time range, both ends included', { query: 'sea', start_time: 1, end_time: 1 }, ['a/main.1.0']],
  ])('finds %s', async (_what, request, expected) => {
    expect(await hits(request)).toEqual(expected);
  });

  it('finds those of some workspaces', async () => {
    expect(await hits({ query: 'sea' }, { workspaceIds: ['wd_b', 'wd_x'] })).toEqual(['b/main.2.0', 'b/main.1.0']);
  });

  it('scores by occurrences, rarity and length, or sorts by time', async () => {
    const { matches, frequencies } = await find({ query: 'sea' });
    expect(frequencies).toEqual({ documents: 5, counts: [3] });
    const rarity = Math.log(1 + 5 / 3);
    expect(matches.map(({ score }) => score)).toEqual([
      expect.closeTo((5 * rarity) / 4, 6),
      expect.closeTo(rarity / 5, 6),
      expect.closeTo(rarity / 10, 6),
    ]);
    expect(await hits({ query: 'sea', sort: 'time_desc' })).toEqual(['b/main.2.0', 'b/main.1.0', 'a/main.1.0']);
    expect(await hits({ query: 'sea', sort: 'time_asc' })).toEqual(['a/main.1.0', 'b/main.1.0', 'b/main.2.0']);
  });

  it('does not find archived sessions until they are restored', async () => {
    setArchived(search.connection, 'b', true);
    expect(await hits({ query: 'sea' })).toEqual(['a/main.1.0']);
    setArchived(search.connection, 'b', false);
    expect(await hits({ query: 'sea' })).toHaveLength(3);
  });
});

describe('a literal search', () => {
  const literal = (query: string) => hits({ query, mode: 'literal' });

  it.each([
    ['parts of words', 'ebraf', ['a/main.1.0']],
    ['other widths and ligatures', 'ﬁle abc', ['a/main.2.0']],
    ['parts of identifiers', 'oBar(b', ['a/main.2.0']],
    ['quotes', '"quoted"', ['a/main.2.0']],
    ['two Han characters', '世界', ['b/main.1.0']],
    ['two other characters, by a scan', 'zb', []],
    ['two that occur, by a scan', 'ze', ['a/main.1.0']],
    ['a line break', 'one\nline', ['c/main.1.0']],
    ['text around a NUL', 'NUL \0 in', ['c/main.1.0']],
    ['newest first', 'the', ['b/main.1.0', 'a/main.2.0', 'a/main.1.0']],
  ])('finds %s', async (_what, query, expected) => {
    expect(await literal(query)).toEqual(expected);
  });
});

describe('queries', () => {
  it.each([
    [{ query: '  ' }, 'query must be a non-empty string'],
    [{ query: Array.from({ length: 33 }, (_, index) => `w${index}`).join(' ') }, 'too many terms (33 > 32)'],
    [{ query: 'x', mode: 'literal' }, 'at least 2 characters'],
    [{ query: 'x'.repeat(1025), mode: 'literal' }, 'limited to 1024 characters'],
  ])('are refused: %j', (request, message) => {
    expect(() => parseQuery(searchRequestSchema.parse(request), undefined)).toThrow(message);
  });

  it.each<[string, object]>([
    ['32 terms, some repeated', { query: Array.from({ length: 64 }, (_, index) => `w${index % 32}`).join(' ') }],
    ['a long text of few terms', { query: 'word '.repeat(100_000) }],
    ['one character that is normalized to two', { query: 'ﬁ', mode: 'literal' }],
    ['blanks, which are not trimmed', { query: '  ', mode: 'literal' }],
    ['1,024 characters of two units each', { query: '𠮷'.repeat(1024), mode: 'literal' }],
  ])('are accepted: %s', async (_what, request) => {
    await find(request);
  });

  it('name the member that is wrong', () => {
    const refused = () => parseQuery(searchRequestSchema.parse({ query: ' ' }), undefined);
    expect(refused).toThrow(expect.objectContaining({ details: [expect.objectContaining({ path: 'query' })] }));
  });

  it('with any text meet no error of SQLite', async () => {
    const random = seeded(11);
    const pieces = [
      '"',
      "'",
      '*',
      '^',
      ':',
      '(',
      ')',
      'AND',
      'NOT',
      'NEAR(',
      '{once}',
      '\0',
      '\ud800',
      '世',
      'é',
      ' ',
      '-',
      '--',
      ';',
      'sea',
    ];
    for (let run = 0; run < 5000; run += 1) {
      const query = Array.from(
        { length: 2 + Math.floor(random() * 8) },
        () => pieces[Math.floor(random() * pieces.length)],
      ).join('');
      const request = { query, mode: random() < 0.5 ? 'literal' : 'terms', op: random() < 0.5 ? 'OR' : 'AND' };
      if (request.mode === 'terms' && query.trim() === '') continue;
      await find(request);
    }
  });
});

describe('pages', () => {
  const words = ['sun', 'moon', 'star'];
  const random = seeded(3);
  const textOf = () =>
    Array.from({ length: 1 + Math.floor(random() * 5) }, () => words[Math.floor(random() * 3)]).join(' ');
  const WRITTEN = 1_000;

  beforeAll(() => {
    for (let index = 0; index < 300; index += 1) {
      const session = `page-${Math.floor(random() * 5)}`;
      add(session, 1000 + index, textOf(), 100 + Math.floor(random() * 20));
    }
  });

  it.each([
    { query: 'sun moon star', op: 'OR' },
    { query: 'sun moon star', op: 'OR', sort: 'time_desc' },
    { query: 'sun moon star', op: 'OR', sort: 'time_asc' },
  ])('repeat no document and miss none of the first page while 1,000 are written: %j', async (request) => {
    const there = added.filter(({ session }) => session.startsWith('page-'));
    const seen: string[] = [];
    let written = 0;
    let page = await find({ ...request, page_size: 7 });
    const { frequencies } = page;
    for (let turn = 0; ; turn += 1) {
      for (const { sessionId, key } of page.matches) seen.push(`${sessionId}/${key}`);
      const last = page.matches.at(-1);
      if (!page.hasMore || !last) break;
      for (let more = 0; more < 50 && written < WRITTEN; more += 1) {
        written += 1;
        add('page-new', added.length, textOf(), 100 + Math.floor(random() * 20));
      }
      page = await find({ ...request, page_size: 3 + (turn % 48) }, { after: last, frequencies });
    }
    expect(written).toBe(WRITTEN);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(expect.arrayContaining(there.map(({ session, record }) => `${session}/main.${record}.0`)));
  });

  it('end with what was found when a limit is reached, and say which', async () => {
    const request = { query: 'sun moon star', op: 'OR' };
    const firstWindow = 10;
    for (const [incomplete, limits] of [
      ['postings_budget', { postings: 1, firstWindow }],
      ['candidate_cap', { candidates: { terms: 1, literal: 1 }, firstWindow }],
    ] as const) {
      const page = await find(request, { limits });
      expect(page.incomplete).toBe(incomplete);
      expect(page.matches.length).toBeGreaterThan(0);
    }
    const literal = await find(
      { query: 'sun', mode: 'literal' },
      { limits: { candidates: { terms: 1, literal: 1 }, firstWindow } },
    );
    expect(literal).toMatchObject({ incomplete: 'candidate_cap' });
    expect(literal.matches.length).toBeGreaterThan(0);
    const late = await find(request, { limits: { milliseconds: 0 } });
    expect(late).toMatchObject({ incomplete: 'deadline', matches: [], hasMore: false });
    const scan = await find({ query: 'su', mode: 'literal' }, { limits: { textUnits: 1 } });
    expect(scan.incomplete).toBe('deadline');
    expect(scan.matches.length).toBeGreaterThan(0);
  });

  it('end at an abort', async () => {
    const gone = new Error('the client has gone');
    const query = parseQuery(searchRequestSchema.parse({ query: 'sun' }), undefined);
    const checkAborted = () => {
      throw gone;
    };
    const aborted = findPage(search.connection, { query, size: 1, limits: budgetLimits, checkAborted });
    await expect(aborted).rejects.toBe(gone);
  });

  it('lose what is removed', async () => {
    const { connection } = search;
    const source = { id: 'removed', workspaceId: 'w', archived: false, folder: '' };
    add('removed', 1, 'vanishing', 1);
    add('removed', 2, 'vanishing', 2);
    removeFrom(connection, readSession(connection, source, 'e').number, 'main', 2);
    expect(await hits({ query: 'vanishing' })).toEqual(['removed/main.1.0']);
    await removeSession(connection, 'removed');
    expect(await hits({ query: 'vanishing' })).toEqual([]);
    expect(await hits({ query: 'vanish', mode: 'literal' })).toEqual([]);
  });
});
