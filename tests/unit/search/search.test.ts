import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { searchRequestSchema } from '#schema/rest/search.ts';
import { createLogger } from '#server/logging/log.ts';
import { noticeSchema } from '#server/search/messages.ts';
import { createSearch, searchTimes } from '#server/search/search.ts';
import type { SessionHeader } from '#server/sessions/index/session-header.ts';
import { createThread } from '#server/threads/thread.ts';
import { eventually } from '#support/patience.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();

/** A search whose thread runs out of memory in as many of its searches. */
async function startDying(times: number) {
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
    sessionOf: () => undefined,
    countSessions: () => 3,
    workspaceIds: async (id) => [id],
    log: createLogger('silent'),
  });
  onTestFinished(() => search.close());
  const find = () => search.search(searchRequestSchema.parse({ query: 'word' }), new AbortController().signal);
  return { find, threads: () => threads };
}

const healthy = { items: [], has_more: false, source: 'index', index_state: { state: 'ready', documents: 7 } };

it('starts a thread that ran out of memory again, and answers', async () => {
  const { find, threads } = await startDying(1);
  const replies = await Promise.all(Array.from({ length: 5 }, find));
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

it('sends no hint for a new session without a text, which a pass adds', async () => {
  const hinted: string[] = [];
  const search = createSearch({
    sessionsDir: join(folder.path, 'sessions'),
    lockPath: join(folder.path, 'cache', 'search.lock'),
    holder: leaseHolder(),
    times: searchTimes,
    openThread: () => ({
      request: async () => undefined,
      send(message) {
        const notice = noticeSchema.parse(message);
        if (notice.kind === 'hints') hinted.push(...notice.hints.map(({ id }) => id));
        return true;
      },
      terminate: async () => undefined,
      close: async () => undefined,
    }),
    sessionOf: (id) => ({ header: { ...header, id }, length: 1, isLive: true }),
    countSessions: () => 5,
    workspaceIds: async (id) => [id],
    log: createLogger('silent'),
  });
  onTestFinished(() => search.close());
  const receive = (sessionId: string, type: string, payload: Record<string, unknown>) =>
    search.receive({ type, sessionId, payload, seq: 1, time: 1, epoch: 'e' });
  receive('empty', 'event.session.created', { session: { title: '' } });
  receive('titled', 'event.session.created', { session: { title: 'A title' } });
  receive('copied', 'event.session.created', { session: { title: '', last_prompt: 'Hello' } });
  receive('prompted', 'context.spliced', {});
  search.search(searchRequestSchema.parse({ query: 'word' }), new AbortController().signal).catch(() => undefined);
  expect(hinted).toEqual(['titled', 'copied', 'prompted']);
  receive('empty', 'context.spliced', {});
  await eventually(() => expect(hinted).toContain('empty'));
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
