import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { searchRequestSchema } from '#schema/rest/search.ts';
import { createLogger } from '#server/logging/log.ts';
import { noticeSchema, type FoundDocument, type SearchAnswer } from '#server/search/messages.ts';
import { createSearch, searchTimes, type Search, type SearchDeps } from '#server/search/search.ts';
import type { SessionHeader } from '#server/sessions/index/session-header.ts';
import { createThread } from '#server/threads/thread.ts';
import { eventually } from '#support/patience.ts';
import { leaseHolder, suspendableHolder } from '#support/lease-holder.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();
/** Closed before the folder with the lease is removed. */
const opened: Search[] = [];
afterEach(async () => {
  for (const search of opened.splice(0)) await search.close();
});

/** A search whose thread runs out of memory in as many of its searches. */
async function startDying(times: number, sessionOf: SearchDeps['sessionOf'] = () => undefined) {
  const deaths = new Int32Array(new SharedArrayBuffer(4));
  Atomics.store(deaths, 0, times);
  let threads = 0;
  const search = createSearch({
    sessionsDir: join(folder.path, 'sessions'),
    lockPath: join(folder.path, 'cache', 'search.lock'),
    holder: leaseHolder(),
    times: searchTimes,
    openThread({ onDeath }) {
      threads += 1;
      return createThread({
        name: 'search',
        program: () => import('./fixtures/dying-program.ts?thread'),
        workerData: () => ({ deaths }),
        resourceLimits: { maxOldGenerationSizeMb: 16 },
        onDeath,
      });
    },
    sessionOf,
    countSessions: () => 3,
    workspaceIds: async (id) => [id],
    log: createLogger('silent'),
  });
  opened.push(search);
  const find = (more: object = {}) =>
    search.search(searchRequestSchema.parse({ query: 'word', ...more }), new AbortController().signal);
  return { find, threads: () => threads };
}

const healthy = { items: [], has_more: false, source: 'index', index_state: { state: 'ready', documents: 7 } };

it('starts a thread that ran out of memory again, and answers', async () => {
  const { find, threads } = await startDying(1);
  const replies = await Promise.all(Array.from({ length: 5 }, () => find()));
  for (const reply of replies) {
    expect(reply).toMatchObject(healthy);
    expect(reply.index_state).not.toHaveProperty('degraded');
  }
  expect(threads()).toBe(2);
});

const header: SessionHeader = {
  id: 'a',
  workspaceId: 'w',
  cwd: '/project',
  title: '',
  createdAt: 1,
  updatedAt: 1,
  archived: false,
  custom: {},
  open: false,
  settled: true,
  wakes: [],
};

const found: FoundDocument = { sessionId: 'a', agentId: 'main', role: 'user', snippet: 'word', time: 1, score: 1 };

/** A search whose thread answers each request with a document of each of these sessions. */
function startFake(sessions: Record<string, Partial<SessionHeader>> = {}, holder = leaseHolder()) {
  const hinted: string[] = [];
  const fills: boolean[] = [];
  let checkLease = () => {};
  const answer: SearchAnswer = {
    found: Object.keys(sessions).map((sessionId) => ({ ...found, sessionId })),
    hasMore: false,
    state: 'ready',
    indexedSessions: 5,
    documents: 7,
  };
  const search = createSearch({
    sessionsDir: join(folder.path, 'sessions'),
    lockPath: join(folder.path, 'cache', 'search.lock'),
    holder,
    times: searchTimes,
    openThread({ onCheckLease }) {
      checkLease = onCheckLease;
      return {
        request: async () => answer,
        send(message) {
          const notice = noticeSchema.parse(message);
          if (notice.kind === 'hints') hinted.push(...notice.hints.map(({ id }) => id));
          else fills.push(notice.active);
          return true;
        },
        terminate: async () => undefined,
        close: async () => undefined,
      };
    },
    sessionOf: (id) => ({ header: { ...header, id, ...sessions[id] }, length: 1, isLive: true }),
    countSessions: () => 5,
    workspaceIds: async (id) => [id],
    log: createLogger('silent'),
  });
  opened.push(search);
  return {
    hinted,
    fills,
    /** The thread calls it before each portion of a fill. */
    checkLease: () => checkLease(),
    find: () => search.search(searchRequestSchema.parse({ query: 'word' }), new AbortController().signal),
    receive: (sessionId: string, type: string, payload: Record<string, unknown> = {}, volatile = false) =>
      search.receive({ type, sessionId, payload, seq: 1, time: 1, epoch: 'e', ...(volatile && { volatile }) }),
  };
}

it('says of an open session that nothing could be searched where the thread ends again', async () => {
  const { find } = await startDying(2, () => ({ header, length: 1, isLive: true }));
  expect(await find({ container: { session_id: 'a' } })).toMatchObject({
    items: [],
    source: 'live',
    index_state: { state: 'ready', stale: true, degraded: expect.stringMatching(/./) },
  });
});

it('sends no hint for a new session without a text, which a pass adds', async () => {
  const { hinted, find, receive } = startFake();
  receive('empty', 'event.session.created', { session: { title: '' } });
  receive('titled', 'event.session.created', { session: { title: 'A title' } });
  receive('copied', 'event.session.created', { session: { title: '', last_prompt: 'Hello' } });
  receive('prompted', 'context.spliced');
  await find();
  expect(hinted).toEqual(['titled', 'copied', 'prompted']);
  receive('empty', 'context.spliced');
  await eventually(() => expect(hinted).toContain('empty'));
});

it('sends a hint after prompts, answers, titles and undos, and after nothing else', async () => {
  const { hinted, find, receive } = startFake();
  const changing = [
    'context.spliced',
    'turn.step.completed',
    'turn.step.interrupted',
    'turn.ended',
    'session.meta.updated',
    'context.undone',
  ];
  for (const type of changing) receive(type, type);
  for (const type of ['tool.result', 'turn.started', 'compaction.completed']) receive(type, type);
  receive('volatile', 'context.spliced', {}, true);
  await find();
  expect(hinted).toEqual(changing);
});

it('has the present title and workspace of a hit, and no hit of a session that was archived meanwhile', async () => {
  const { find } = startFake({ kept: { title: 'Renamed', workspaceId: 'moved' }, hidden: { archived: true } });
  const { items } = await find();
  expect(items).toEqual([
    expect.objectContaining({ session_id: 'kept', session_title: 'Renamed', workspace_id: 'moved' }),
  ]);
});

it('lets the thread fill the index while the server owns the lease', async () => {
  const { holder, suspend } = suspendableHolder();
  const { fills, find, checkLease } = startFake({}, holder);
  await find();
  await eventually(() => expect(fills).toEqual([true]));
  checkLease();
  expect(fills).toEqual([true, true]);
  await suspend(join(folder.path, 'cache', 'search.lock'));
  checkLease();
  expect(fills).toEqual([true, true, false]);
});

it('acquires the lease of a home without a cache', async () => {
  await (await startDying(0)).find();
  await eventually(() => access(join(folder.path, 'cache', 'search.lock.1')));
});

it('answers without hits where the thread ends again, and starts it at the next search', async () => {
  const { find, threads } = await startDying(2);
  expect(await find()).toMatchObject({
    items: [],
    has_more: false,
    index_state: { state: 'building', stale: true, total_sessions: 3, degraded: 'the search thread ended' },
  });
  expect(threads()).toBe(2);
  expect(await find()).toMatchObject(healthy);
  expect(threads()).toBe(3);
});
