/** Loading of sessions that wake after the start, and how many stay loaded; with real locks and a real index. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { effectiveConfig } from '#server/config/effective.ts';
import { cron } from '#server/features/cron/cron.ts';
import { features } from '#server/features/features.ts';
import { createLogger } from '#server/logging/log.ts';
import { createWokenSessions } from '#server/sessions/live/woken-sessions.ts';
import { createLiveCache, MAX_KEPT } from '#server/sessions/live/live-cache.ts';
import { deadOwner, leaseHolder } from '#support/lease-holder.ts';
import { manualClock } from '#support/manual-clock.ts';
import { eventually } from '#support/patience.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { openIndex, sessionDir, sessionRow } from '../index/index-fixtures.ts';

const MINUTE = 60_000;

const configWith = (env: NodeJS.ProcessEnv) => effectiveConfig({}, env);

/** Starts the service over an index with these rows. */
async function start(
  rows: { id: string; updatedAt?: number; archived?: boolean; wakes?: string[]; lock?: string }[],
  isDisabled: (feature: string) => boolean = () => false,
  /** Called with the number of running loads, which continue after its promise. */
  onLoad = (_running: number): Promise<unknown> => Promise.resolve(),
) {
  const home = await temporaryHome();
  const { index } = openIndex(home);
  await index.ready();
  for (const { id, lock, ...members } of rows) {
    index.upsert(sessionRow(id, { wakes: ['cron'], ...members }), 1);
    await mkdir(sessionDir(home, id), { recursive: true });
    if (lock !== undefined) await writeFile(join(sessionDir(home, id), 'lock.1'), lock);
  }
  const opened: string[] = [];
  const lines: string[] = [];
  let loading = 0;
  let most = 0;
  const sessions = createWokenSessions({
    index,
    live: {
      directory: ({ id }) => sessionDir(home, id),
      async open(id) {
        opened.push(id);
        loading += 1;
        most = Math.max(most, loading);
        await onLoad(loading);
        loading -= 1;
        throw new Error(`${id} is damaged`);
      },
    },
    features: ['cron', 'other'].map((name) => ({ name, disabled: () => isDisabled(name) })),
    config: { effective: () => configWith({}) },
    holder: leaseHolder('server_1', { alive: async ({ server_id }) => server_id === 'other' }),
    log: createLogger('warn', (line) => void lines.push(line)),
  });
  sessions.start();
  onTestFinished(() => sessions.close());
  return { sessions, opened, lines, most: () => most };
}

const heldElsewhere = JSON.stringify({ server_id: 'other', machine: 'a container', pid: 1, start: '1' });

it('loads those that have jobs, but none that is archived or owned by a live server; a damaged one blocks no other', async () => {
  const { sessions, opened, lines } = await start([
    { id: 'newer', updatedAt: 2 },
    { id: 'older', updatedAt: 1 },
    { id: 'without', wakes: [] },
    { id: 'archived', archived: true },
    { id: 'held', lock: heldElsewhere },
    { id: 'crashed', updatedAt: 3, lock: deadOwner() },
  ]);
  await eventually(() => expect(lines).toHaveLength(3));
  await sessions.close();
  expect(opened.toSorted()).toEqual(['crashed', 'newer', 'older']);
});

it('loads 4 at a time, the newest 50 of more', async () => {
  const rows = Array.from({ length: MAX_KEPT + 3 }, (_, n) => ({ id: `s${n}`, updatedAt: n }));
  let release: () => void = () => undefined;
  const four = new Promise<void>((resolve) => (release = resolve));
  const { opened, lines, most } = await start(rows, undefined, (running) => {
    if (running === 4) release();
    return four.then(() => new Promise((resolve) => setImmediate(resolve)));
  });
  await eventually(() => expect(opened).toHaveLength(MAX_KEPT));
  expect(most()).toBe(4);
  expect(opened.slice(-4)).toContain('s52');
  expect(opened).not.toContain('s2');
  expect(lines[0]).toContain('more sessions have scheduled jobs than are kept loaded');
});

it('loads only for features that exist and are switched on', async () => {
  const { sessions, opened, lines } = await start(
    [
      { id: 'off' },
      { id: 'unknown', wakes: ['removed'] },
      { id: 'on', wakes: ['other'] },
      { id: 'both', wakes: ['cron', 'other'] },
    ],
    (feature) => feature === 'cron',
  );
  await eventually(() => expect(lines).toHaveLength(2));
  await sessions.close();
  expect(opened.toSorted()).toEqual(['both', 'on']);
});

it('finds a feature by the name of its fold', () => {
  const folding = features.filter(({ projection }) => projection);
  expect(folding.map(({ projection }) => projection?.name)).toEqual(folding.map(({ name }) => name));
});

it('reads from the configuration whether scheduled jobs are switched off', () => {
  expect(cron.disabled?.(configWith({}))).toBe(false);
  expect(cron.disabled?.(configWith({ SERVICE_DISABLE_CRON: '1' }))).toBe(true);
});

it('loads none after its end', async () => {
  const ended = await start([{ id: 'a' }]);
  await ended.sessions.close();
  const before = ended.opened.length;
  expect(before).toBeLessThan(2);
});

it('50 sessions that features want loaded stay; the least recently used of more are notified and evicted, unless they are in use', async () => {
  const clock = manualClock();
  const events: string[] = [];
  const busy = new Set<string>();
  const cache = createLiveCache<string>({
    load: (id) => Promise.resolve(id),
    unload: async (id) => void events.push(`unloaded ${id}`),
    holds: (id) => busy.has(id),
    bytes: () => 1,
    keeps: (id) => id.startsWith('kept'),
    dropped: async (id) => void events.push(`told ${id}`),
    log: createLogger('silent'),
    clock,
    maxLive: MAX_KEPT,
  });
  onTestFinished(() => cache.close());
  const open = (id: string) => cache.use(id, () => undefined);
  await open('other');
  for (let n = 0; n < MAX_KEPT; n += 1) await open(`kept${n}`);
  clock.advance(31 * MINUTE);
  await cache.unloadIdle();
  // Neither because of idleness nor as an eviction above the limit.
  expect(events).toEqual(['unloaded other']);
  await open('kept0');
  busy.add('kept1');
  for (const id of ['kept-a', 'kept-b', 'kept-c']) await open(id);
  await cache.unloadIdle();
  expect(events.slice(1)).toEqual(['told kept2', 'unloaded kept2', 'told kept3', 'unloaded kept3']);
  busy.clear();
  await cache.unloadIdle();
  expect(events.slice(5)).toEqual(['told kept1', 'unloaded kept1']);
  expect(cache.all()).toHaveLength(MAX_KEPT);
});
