import { expect, it } from 'vitest';
import { searchRequestSchema } from '#schema/rest/search.ts';
import { conditionsOf, decodeToken, encodeToken } from '#server/search/page-token.ts';
import { parseQuery } from '#server/search/query.ts';

const conditions = (request: object, source: 'live' | 'index' = 'index', workspaceIds?: string[]) =>
  conditionsOf(parseQuery(searchRequestSchema.parse({ query: 'Zebra Fish', ...request }), workspaceIds), source);

const after = { score: 1.25, time: 1_700_000_000_000, sessionId: 'session_1', key: 'main.12.0' };
const frequencies = { documents: 100, counts: [3, 40] };
const own = conditions({});
const token = encodeToken(own, 'generation-1', after, frequencies);

it('leads to the row and the frequencies of the page before', () => {
  expect(decodeToken(token, own, 'generation-1')).toEqual({
    conditions: own,
    generation: 'generation-1',
    after,
    frequencies,
  });
  expect(token).toMatch(/^[\w-]{1,4096}$/);
});

it.each<[string, string]>([
  ['another query', conditions({ query: 'zebra' })],
  ['another mode', conditions({ mode: 'literal' })],
  ['another operator', conditions({ op: 'OR' })],
  ['another order', conditions({ sort: 'time_desc' })],
  ['a role', conditions({ role: 'user' })],
  ['a session', conditions({ container: { session_id: 'session_1' } })],
  ['an agent', conditions({ container: { agent_id: 'main' } })],
  ['a workspace', conditions({}, 'index', ['wd_1'])],
  ['a start', conditions({ start_time: 1 })],
  ['an end', conditions({ end_time: 1 })],
  ['the other source', conditions({}, 'live')],
])('is refused for %s', (_what, other) => {
  expect(() => decodeToken(token, other, 'generation-1')).toThrow('page_token is of another query');
});

it.each([{ op: 'OR' }, { sort: 'time_asc' }])(
  'is refused in literal mode with %j, which has no effect there',
  (other) => {
    expect(conditions({ mode: 'literal', ...other })).not.toBe(conditions({ mode: 'literal' }));
  },
);

it('is valid for a query that is the same once normalized, with any size', () => {
  expect(conditions({ query: '  zebra ＦＩＳＨ ', page_size: 7 })).toBe(own);
});

it('is refused by another index', () => {
  expect(() => decodeToken(token, own, 'generation-2')).toThrow('page_token is of an older index');
});

it('is refused with any character changed, removed or added', () => {
  const damaged = [...token].flatMap((character, index) => [
    `${token.slice(0, index)}${character === 'A' ? 'B' : 'A'}${token.slice(index + 1)}`,
    token.slice(0, index) + token.slice(index + 1),
    `${token.slice(0, index)}A${token.slice(index)}`,
  ]);
  for (const text of [...damaged, '', '=', 'null', `${token}=`, `${token} `]) {
    expect(() => decodeToken(text, own, 'generation-1')).toThrow('page_token is malformed');
  }
});
