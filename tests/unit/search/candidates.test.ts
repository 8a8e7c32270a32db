/** The cap of candidates counts exactly the documents that match, although most windows only have an upper bound. */
import { describe, expect, it } from 'vitest';
import { searchRequestSchema } from '#schema/rest/search.ts';
import { budgetLimits, startBudget } from '#server/search/budget.ts';
import type { Place } from '#server/search/order.ts';
import { parseQuery } from '#server/search/query.ts';
import { findPage } from '#server/search/run-query.ts';
import { readSession, setArchived } from '#server/search/sessions.ts';
import { addDocuments, nextNumber } from '#server/search/write-documents.ts';
import { useSearchDb } from './search-db.ts';

/** Documents with the word, of which half are archived and a quarter are assistant texts. */
const DOCUMENTS = 400;
const SHOWN = DOCUMENTS / 2;
const FROM_ASSISTANT = DOCUMENTS / 4;

const search = useSearchDb((connection) => {
  const addTo = (session: string, record: number, text: string, newest: boolean) => {
    const source = { id: session, workspaceId: 'w', archived: false, folder: '' };
    connection.transaction(() => {
      const { number } = readSession(connection, source, 'e');
      const step = record % 4 === 0 ? 1 : undefined;
      const document = { agentId: 'main', record, part: 0, time: 1000 + record, turn: 0, step, text };
      addDocuments(connection, nextNumber(connection, newest), number, [document]);
    });
  };
  for (let record = 0; record < DOCUMENTS; record += 1) {
    addTo(record % 2 === 0 ? 'shown' : 'archived', record, 'the lynx', true);
  }
  setArchived(connection, 'archived', true);
  // A query checks its limits before it reads the window of this one.
  addTo('shown', DOCUMENTS + 1, 'another animal', false);
});

async function find(request: object, cap: number, after?: Place) {
  const query = parseQuery(searchRequestSchema.parse(request), undefined);
  const candidates = { terms: cap, literal: cap };
  const limits = { ...budgetLimits, milliseconds: Infinity, firstWindow: 20, candidates };
  return findPage(search.connection, { query, size: 5, after, limits, checkAborted: () => undefined });
}

describe.each([
  ['words', { query: 'lynx' }],
  ['several words', { query: 'lynx the' }],
  ['one of several words', { query: 'lynx the', op: 'OR' }],
  ['the oldest first', { query: 'lynx', sort: 'time_asc' }],
  ['a literal', { query: 'e lynx', mode: 'literal' }],
])('the candidates of a search for %s', (_what, request) => {
  it.each([
    ['are those that are not archived', {}, SHOWN],
    ['are those of a role', { role: 'assistant' }, FROM_ASSISTANT],
  ])('%s', async (_which, filters, count) => {
    const body = { ...request, ...filters };
    const first = await find(body, count);
    expect(first).toMatchObject({ incomplete: 'candidate_cap', hasMore: true });
    expect((await find(body, count + 1)).incomplete).toBeUndefined();
    const after = first.matches.at(-1);
    expect(await find(body, count, after)).toMatchObject({ incomplete: 'candidate_cap', hasMore: true });
    expect((await find(body, count + 1, after)).incomplete).toBeUndefined();
  });
});

it('a scan has none', async () => {
  const page = await find({ query: 'ly', mode: 'literal' }, 1);
  expect(page.matches).toHaveLength(5);
  expect(page.incomplete).toBeUndefined();
});

describe('a budget', () => {
  const start = (milliseconds: number) =>
    startBudget('terms', { ...budgetLimits, milliseconds, candidates: { terms: 10, literal: 10 } }, () => undefined);

  it('counts candidates only while their upper bounds reach the cap', async () => {
    const budget = start(Infinity);
    const counted: number[] = [];
    const add = (atMost: number, count: number) =>
      budget.addCandidates(atMost, () => {
        counted.push(count);
        return count;
      });
    add(9, 3);
    expect(await budget.mayRead()).toBe(true);
    expect(counted).toEqual([]);
    add(1, 0);
    expect(await budget.mayRead()).toBe(true);
    expect(counted).toEqual([3]);
    add(6, 6);
    expect(await budget.mayRead()).toBe(true);
    expect(counted).toEqual([3, 0]);
    budget.addCandidates(1);
    expect(await budget.mayRead()).toBe(false);
    expect(counted).toEqual([3, 0, 6]);
    expect(budget.incomplete).toBe('candidate_cap');
  });

  it('does not count them after its time', async () => {
    const budget = start(-1);
    budget.addCandidates(10, () => expect.fail('counted'));
    expect(await budget.mayRead()).toBe(false);
    expect(budget.incomplete).toBe('deadline');
  });
});
