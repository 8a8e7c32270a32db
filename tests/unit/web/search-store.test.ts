/** The search palette's state: requests while a person types, and whose reply is used. */
import { effectScope, shallowRef } from 'vue';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  ApiError,
  type Rest,
  type SearchHit,
  type SearchQuery,
  type SearchReply,
  type Session,
} from '@service-code/client';
import { createSearch, type Search } from '../../../web/stores/search.ts';
import { eventually } from '#support/patience.ts';
import { session } from './session-frames.ts';

interface Request {
  body: SearchQuery;
  signal: AbortSignal | undefined;
  resolve(reply: SearchReply): void;
  reject(error: Error): void;
}

let requests: Request[];
let scope: ReturnType<typeof effectScope>;
let sessions: Session[];
beforeEach(() => {
  requests = [];
  scope = effectScope();
  sessions = [];
});
afterEach(() => scope.stop());

/** Requests are answered by the test, and ignore their signal. */
function open(of: Parameters<typeof createSearch>[0]['scope'] = 'all'): Search {
  const search: Rest['search'] = (body, { signal } = {}) =>
    new Promise((resolve, reject) => void requests.push({ body, signal, resolve, reject }));
  const made = scope.run(() =>
    createSearch({
      rest: { search },
      sessions: shallowRef(sessions),
      origin: { sessionId: 'session_1', workspaceId: 'wd_shop_000000000000' },
      scope: of,
    }),
  );
  if (!made) throw new Error('the scope is not active');
  return made;
}

const hit = (snippet: string, more: Partial<SearchHit> = {}): SearchHit => ({
  session_id: 'session_1',
  workspace_id: 'wd_shop_000000000000',
  session_title: 'Fish',
  agent_id: 'main',
  role: 'assistant',
  snippet,
  time: 1,
  turn: 0,
  step_id: 't0.1',
  score: 1,
  ...more,
});

const reply = (items: SearchHit[], more: Partial<SearchReply> = {}): SearchReply => ({
  items,
  has_more: false,
  index_state: { state: 'ready', indexed_sessions: 1, total_sessions: 1, documents: 1 },
  source: 'index',
  ...more,
});

async function request(number: number): Promise<Request> {
  await eventually(() => expect(requests.length).toBeGreaterThan(number));
  const made = requests[number];
  if (!made) throw new Error('no request');
  return made;
}

const snippets = ({ hits }: Search) => hits.value.map(({ snippet }) => snippet);

it('sends one request after several changes, and displays its hits', async () => {
  const search = open();
  for (const text of ['n', 'na', 'nar', 'narwhal']) search.text.value = text;
  expect(search.status.value).toBe('searching');
  const { body, resolve } = await request(0);
  expect(body).toEqual({ query: 'narwhal', mode: 'terms', sort: 'score' });
  resolve(reply([hit('a narwhal')]));
  await eventually(() => expect(snippets(search)).toEqual(['a narwhal']));
  expect(search.status.value).toBe('done');
  expect(requests).toHaveLength(1);
});

it('aborts the request of an older query, and ignores a reply that arrives anyway', async () => {
  const search = open();
  search.text.value = 'old';
  const old = await request(0);
  search.text.value = 'new';
  expect(old.signal?.aborted).toBe(true);
  // Before the newer request is sent, and after its reply.
  old.resolve(reply([hit('old one')]));
  const next = await request(1);
  expect(snippets(search)).toEqual([]);
  expect(search.status.value).toBe('searching');
  next.resolve(reply([hit('new one')]));
  await eventually(() => expect(snippets(search)).toEqual(['new one']));
  old.resolve(reply([hit('old one')]));
  await new Promise((resolve) => setImmediate(resolve));
  expect(snippets(search)).toEqual(['new one']);
});

it('ignores a reply to an older query that arrives after that of the newer one', async () => {
  const search = open();
  search.text.value = 'old';
  const old = await request(0);
  search.text.value = 'new';
  const next = await request(1);
  next.resolve(reply([hit('new one')]));
  await eventually(() => expect(snippets(search)).toEqual(['new one']));
  old.resolve(reply([hit('old one')]));
  await new Promise((resolve) => setImmediate(resolve));
  expect(snippets(search)).toEqual(['new one']);
});

it('ignores the failure of an aborted request', async () => {
  const search = open();
  search.text.value = 'old';
  const old = await request(0);
  search.text.value = 'new';
  old.reject(new Error('aborted'));
  const next = await request(1);
  next.resolve(reply([hit('new one')]));
  await eventually(() => expect(snippets(search)).toEqual(['new one']));
  expect(search.failure.value).toBeUndefined();
});

it('removes the hits of an older query immediately, and cancels everything when it is closed', async () => {
  const search = open();
  search.text.value = 'one';
  (await request(0)).resolve(reply([hit('one')]));
  await eventually(() => expect(snippets(search)).toEqual(['one']));
  search.text.value = 'two';
  expect(snippets(search)).toEqual([]);
  const { signal } = await request(1);
  scope.stop();
  expect(signal?.aborted).toBe(true);
});

it('restricts a request by scope and author, and sorts it', async () => {
  const search = open('session');
  search.text.value = '"getUser("';
  expect((await request(0)).body).toEqual({
    query: 'getUser(',
    mode: 'literal',
    sort: 'score',
    container: { session_id: 'session_1' },
  });
  search.options.scope = 'project';
  search.options.author = 'user';
  search.options.sort = 'time_desc';
  expect((await request(1)).body).toEqual({
    query: 'getUser(',
    mode: 'literal',
    sort: 'time_desc',
    role: 'user',
    container: { workspace_id: 'wd_shop_000000000000' },
  });
});

it('sends nothing for a blank query, or a literal one of a single character', async () => {
  const search = open();
  for (const text of ['  ', '"', '"x', '"x"']) search.text.value = text;
  expect(search.status.value).toBe('idle');
  search.text.value = '"xy';
  const { body } = await request(0);
  expect(body.query).toBe('xy');
  expect(requests).toHaveLength(1);
});

it('has titles without a request, which the hits do not repeat', async () => {
  sessions = [session({ id: 'session_1', title: 'Fish' }), session({ id: 'session_2', title: 'Birds' })];
  const search = open();
  search.text.value = 'fish';
  expect(search.titles.value.map(({ id }) => id)).toEqual(['session_1']);
  const title = { role: 'title', agent_id: '' } as const;
  const { resolve } = await request(0);
  resolve(reply([hit('Fish', title), hit('Fish soup', { ...title, session_id: 'session_9' }), hit('a fish')]));
  await eventually(() => expect(snippets(search)).toEqual(['Fish soup', 'a fish']));
});

it('adds pages, one at a time', async () => {
  const search = open();
  search.text.value = 'fish';
  (await request(0)).resolve(reply([hit('first')], { has_more: true, page_token: 'page-2' }));
  await eventually(() => expect(search.hasMore.value).toBe(true));
  const reads = Promise.all([search.readMore(), search.readMore()]);
  const second = await request(1);
  expect(second.body.page_token).toBe('page-2');
  second.resolve(reply([hit('second')]));
  await reads;
  expect(snippets(search)).toEqual(['first', 'second']);
  await search.readMore();
  expect(requests).toHaveLength(2);
});

it('starts again when the index was rebuilt between two pages', async () => {
  const search = open();
  search.text.value = 'fish';
  (await request(0)).resolve(reply([hit('first')], { has_more: true, page_token: 'page-2' }));
  await eventually(() => expect(search.hasMore.value).toBe(true));
  void search.readMore();
  (await request(1)).reject(new ApiError(40001, 'page_token is of an older index', { status: 200 }));
  const again = await request(2);
  expect(again.body.page_token).toBeUndefined();
  again.resolve(reply([hit('rebuilt')]));
  await eventually(() => expect(snippets(search)).toEqual(['rebuilt']));
});

it('displays why a query failed', async () => {
  const search = open();
  search.text.value = 'a b c';
  (await request(0)).reject(new ApiError(40001, 'query has too many terms', { status: 200 }));
  await eventually(() => expect(search.failure.value).toMatchObject({ message: 'query has too many terms' }));
  expect(search.status.value).toBe('failed');
  expect(requests).toHaveLength(1);
});

it('reads again while the index is building', async () => {
  const search = open();
  search.text.value = 'fish';
  const index_state = { state: 'building', indexed_sessions: 3, total_sessions: 9, documents: 7, stale: true } as const;
  (await request(0)).resolve(reply([], { index_state }));
  await eventually(() => expect(search.isBuilding.value).toBe(true));
  (await request(1)).resolve(reply([hit('indexed later')]));
  await eventually(() => expect(snippets(search)).toEqual(['indexed later']));
  expect(search.isBuilding.value).toBe(false);
});
