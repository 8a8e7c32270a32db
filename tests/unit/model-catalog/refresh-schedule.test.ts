/** When scheduled refreshes run, among the servers of a home. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it, vi } from 'vitest';
import { effectiveConfig } from '#server/config/effective.ts';
import type { Config } from '#server/config/config.ts';
import { createLogger } from '#server/logging/log.ts';
import { createRefreshSchedule, type RefreshSchedule } from '#server/model-catalog/refresh-schedule.ts';
import { createDocuments } from '#server/storage/documents.ts';
import { deadOwner, leaseHolder } from '#support/lease-holder.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { eventually } from '#support/patience.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const HOUR_MS = 3_600_000;

let home: string;
let clock: ManualClock;
let env: NodeJS.ProcessEnv;
let runs: string[];
let hasSources: boolean;
beforeEach(async () => {
  home = await temporaryHome();
  await mkdir(join(home, 'cache'));
  clock = manualClock(Date.parse('2026-01-01T00:00:00Z'));
  env = {};
  runs = [];
  hasSources = true;
});

interface Server {
  schedule: RefreshSchedule;
  changed(fields: string[]): void;
}

function createServer(id: string, refresh: () => Promise<unknown> = async () => undefined): Server {
  let listener: Parameters<Config['onSeen']>[0] = () => undefined;
  const schedule = createRefreshSchedule({
    home,
    serverId: id,
    holder: leaseHolder(id),
    documents: createDocuments({ home }),
    config: {
      effective: () => effectiveConfig({}, env),
      onSeen(listen) {
        listener = listen;
        return () => undefined;
      },
    },
    hasSources: async () => hasSources,
    async refresh() {
      runs.push(id);
      await refresh();
    },
    clock,
    log: createLogger('silent'),
  });
  const change = { by: undefined, origin: undefined, before: {}, after: {} };
  return { schedule, changed: (fields) => listener({ fields, ...change }) };
}

/** Starts the server and lets its first run end. */
async function started(id: string, refresh?: () => Promise<unknown>): Promise<Server> {
  const server = createServer(id, refresh);
  server.schedule.start();
  clock.advance(100);
  await server.schedule.settled();
  return server;
}

const lastRun = (agoMs: number, server = 'other') =>
  writeFile(
    join(home, 'cache', 'model-refresh.json'),
    JSON.stringify({ at: new Date(clock.now() - agoMs).toISOString(), server_id: server }),
  );

it.each([
  ['1', 1],
  ['true', 1],
  ['yes', 1],
  ['0', 0],
  ['no', 0],
])('with the variable for the start set to %s there are %i runs', async (value, count) => {
  env.SERVICE_CODE_MODEL_CATALOG_REFRESH_ON_START = value;
  await started('a');
  expect(runs).toHaveLength(count);
});

it.each([
  [59_000, 0],
  [60_000, 1],
  [-5000, 1],
])('a start %i ms after the run of another server', async (agoMs, count) => {
  await lastRun(agoMs - 100);
  await started('a');
  expect(runs).toHaveLength(count);
});

it('a malformed document is treated as missing', async () => {
  await writeFile(join(home, 'cache', 'model-refresh.json'), '{"at":"yesterday"');
  await started('a');
  expect(runs).toEqual(['a']);
});

it.each([
  [HOUR_MS / 2 - 1, 0],
  [HOUR_MS / 2, 1],
])('an interval of an hour ends %i ms after a run', async (agoMs, count) => {
  env.SERVICE_CODE_MODEL_CATALOG_REFRESH_INTERVAL_MS = String(HOUR_MS);
  env.SERVICE_CODE_MODEL_CATALOG_REFRESH_ON_START = '0';
  const { schedule } = await started('a');
  clock.advance(HOUR_MS - 101);
  await lastRun(agoMs - 1);
  clock.advance(1);
  await schedule.settled();
  expect(runs).toHaveLength(count);
});

it('an interval of 0 never runs; a changed interval applies from then on', async () => {
  env.SERVICE_CODE_MODEL_CATALOG_REFRESH_INTERVAL_MS = '0';
  env.SERVICE_CODE_MODEL_CATALOG_REFRESH_ON_START = '0';
  const { schedule, changed } = await started('a');
  clock.advance(100 * HOUR_MS);
  expect(clock.waits()).toEqual([]);
  env = { SERVICE_CODE_MODEL_CATALOG_REFRESH_INTERVAL_MS: '5000' };
  changed(['modelCatalog']);
  expect(clock.waits()).toEqual([5000]);
  clock.advance(5000);
  await schedule.settled();
  expect(runs).toEqual(['a']);
  expect(clock.waits()).toEqual([5000]);
});

it('a home without a provider that can be refreshed runs nothing and writes nothing', async () => {
  hasSources = false;
  const { schedule } = await started('a');
  clock.advance(7 * HOUR_MS);
  await schedule.settled();
  expect(runs).toEqual([]);
  expect(await createDocuments({ home }).keys('cache')).toEqual([]);
});

it('two servers that start together refresh once; the second waits for the run of the first', async () => {
  let finish = () => {};
  const first = createServer('a', () => new Promise<void>((resolve) => (finish = resolve)));
  const second = createServer('b');
  first.schedule.start();
  clock.advance(100);
  await eventually(() => expect(runs).toEqual(['a']));
  second.schedule.start();
  clock.advance(100);
  await eventually(() => expect(clock.waits()[0]).toBe(1000));
  clock.advance(1000);
  await eventually(() => expect(clock.waits()[0]).toBe(1000));
  finish();
  await first.schedule.settled();
  clock.advance(1000);
  await second.schedule.settled();
  expect(runs).toEqual(['a']);
});

it('a wait for the run of another server ends with the schedule', async () => {
  const first = createServer('a', () => new Promise<void>(() => undefined));
  const second = createServer('b');
  first.schedule.start();
  clock.advance(100);
  await eventually(() => expect(runs).toEqual(['a']));
  second.schedule.start();
  clock.advance(100);
  await eventually(() => expect(clock.waits()[0]).toBe(1000));
  second.schedule.stop();
  await second.schedule.settled();
  expect(runs).toEqual(['a']);
});

it('the lease of a server that was killed during its run is taken over', async () => {
  await writeFile(join(home, 'cache', 'model-refresh.json.lock.1'), deadOwner());
  await started('a');
  expect(runs).toEqual(['a']);
});

it('a failed run is logged, and the next one follows by the interval', async () => {
  const fail = vi.fn(async () => {
    throw new Error('no');
  });
  const { schedule } = await started('a', fail);
  clock.advance(6 * HOUR_MS);
  await schedule.settled();
  expect(runs).toEqual(['a', 'a']);
});

it('nothing runs after the stop', async () => {
  const server = createServer('a');
  server.schedule.start();
  server.schedule.stop();
  clock.advance(7 * HOUR_MS);
  await server.schedule.settled();
  expect(runs).toEqual([]);
  expect(clock.waits()).toEqual([]);
});
