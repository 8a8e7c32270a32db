/** Titles in the search palette, and the position of a hit. */
import { expect, it } from 'vitest';
import type { SearchHit } from '@service-code/client';
import { hitKey, matchingTitles, targetOf, withoutTitlesOf } from '../../../web/state/search-hits.ts';
import { parseQuery, searchScopes } from '../../../web/state/search-query.ts';
import { session } from './session-frames.ts';

const options = { scope: 'all', author: 'all', sort: 'score' } as const;
const origin = { sessionId: 'session_1', workspaceId: 'wd_shop_000000000000' };
const sessions = [
  session({ id: 'a', title: 'Fix the Checkout page' }),
  session({ id: 'b', title: '', last_prompt: 'fix the café’s menu', workspace_id: 'wd_other_000000000000' }),
  session({ id: 'c', title: '修复登录页面' }),
  session({ id: 'd', title: 'ﬁx ＣＨＥＣＫＯＵＴ again' }),
];
const found = (query: string, more: object = {}, limit = 8) =>
  matchingTitles(sessions, parseQuery(query), { ...options, ...more }, origin, limit).map(({ id }) => id);

it('finds titles that contain every word, in any case and width', () => {
  expect(found('checkout fix')).toEqual(['a', 'd']);
  expect(found('CAFE\u0301')).toEqual(['b']);
  expect(found('登录')).toEqual(['c']);
  expect(found('"the checkout')).toEqual(['a']);
  expect(found('"checkout the')).toEqual([]);
  expect(found('!!!')).toEqual([]);
});

it('displays the newest sessions without a query, and as many as fit', () => {
  expect(found('')).toEqual(['a', 'b', 'c', 'd']);
  expect(found('', {}, 2)).toEqual(['a', 'b']);
});

it('is restricted to the project, and finds no titles by author or within a session', () => {
  expect(found('fix', { scope: 'project' })).toEqual(['a', 'd']);
  expect(found('fix', { scope: 'session' })).toEqual([]);
  expect(found('fix', { author: 'user' })).toEqual([]);
  expect(searchScopes).toEqual(['session', 'project', 'all']);
});

it('finds a title after it has changed', () => {
  const before = session({ id: 'e', title: 'before' });
  const list = (query: string, item = before) => matchingTitles([item], parseQuery(query), options, origin, 8).length;
  expect(list('before')).toBe(1);
  expect(list('after', { ...before, title: 'after' })).toBe(1);
});

const hit: SearchHit = {
  session_id: 'a',
  workspace_id: 'wd_shop_000000000000',
  session_title: 'Fix',
  agent_id: 'agent-1',
  role: 'assistant',
  snippet: 'fixed',
  time: 1,
  turn: 3,
  step_id: 't3.2',
  score: 1,
};

it('omits titles that are displayed, and no messages of their sessions', () => {
  const title: SearchHit = { ...hit, role: 'title', agent_id: '' };
  const other = { ...title, session_id: 'z' };
  expect(withoutTitlesOf([title, hit, other], sessions)).toEqual([hit, other]);
});

it('has the position of a message, and none of a title', () => {
  expect(targetOf(hit)).toEqual({ sessionId: 'a', agentId: 'agent-1', turn: 3, stepId: 't3.2' });
  const { turn: _, ...title } = hit;
  expect(targetOf(title)).toBeUndefined();
  expect(hitKey(hit)).not.toBe(hitKey({ ...hit, turn: 4 }));
  expect(hitKey({ ...hit, score: 2 })).toBe(hitKey(hit));
});

it.each<[string, string, string]>([
  ['  two words ', 'terms', 'two words'],
  ['"get(', 'literal', 'get('],
  ['"get(" ', 'literal', 'get('],
  ['“引号”', 'literal', '引号'],
  ['" a "', 'literal', ' a '],
  ['a "b"', 'terms', 'a "b"'],
  ['"', 'literal', ''],
])('%j is read as %s %j', (text, mode, query) => expect(parseQuery(text)).toEqual({ mode, query }));
