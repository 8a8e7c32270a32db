/** The app as a whole: what it opens, it releases. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import memory from 'unstorage/drivers/memory';
import { expect, it } from 'vitest';
import { appOptions } from '#server/app-options.ts';
import { createApp } from '#server/app.ts';
import { createLogger } from '#server/logging/log.ts';
import { startServer } from '#support/server.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

it('a start that fails half-way releases what it had opened', async () => {
  const home = await temporaryHome();
  const before = timers();
  // Enough for the registration of the instance and the configuration, not for what comes behind them.
  for (const calls of [1, 2, 3, 4]) {
    let left = calls;
    const env = () => {
      if (left === 0) throw new Error('the environment is gone');
      left -= 1;
      return {};
    };
    const start = createApp(appOptions({ home, port: 0, log: createLogger('silent'), demo: true, env }));
    const outcome = await start.then(
      (app) => app.close().then(() => 'started'),
      (error: Error) => error.message,
    );
    expect(['started', 'the environment is gone']).toContain(outcome);
    expect(await readdir(join(home, 'server/instances'))).toEqual([]);
  }
  expect(timers()).toBeLessThanOrEqual(before);
});

it('documents stand on the drivers that the options name', async () => {
  const home = await temporaryHome();
  const server = await startServer({ home, documents: { home: memory() } });
  await server.api('POST', '/workspaces', { root: home });
  expect(await server.api('GET', '/workspaces')).toMatchObject({ data: { items: [{ root: home }] } });
  await server.close();
  const names = await readdir(home);
  expect(names).not.toContain('workspaces.json');
  expect(names).not.toContain('device_id');
});

it('the index of an older version goes, unless a server of another version is there', async () => {
  const home = await temporaryHome();
  const old = join(home, 'cache/index-v1.db');
  const other = join(home, 'server/instances/other.json');
  const instance = {
    server_id: 'other',
    pid: process.pid,
    host: 'x',
    port: 1,
    started_at: 1,
    heartbeat_at: Date.now(),
  };
  await mkdir(join(home, 'cache'), { recursive: true });
  await mkdir(join(home, 'server/instances'), { recursive: true });
  await writeFile(old, '');
  await writeFile(other, JSON.stringify({ ...instance, host_version: '0.0.1' }));
  const first = await startServer({ home });
  // A list is read only after the index was opened, which is long after the look at the old ones began.
  await first.api('GET', '/sessions');
  await first.close();
  expect(existsSync(old)).toBe(true);
  await rm(other);
  const second = await startServer({ home });
  await expect.poll(() => existsSync(old)).toBe(false);
  await second.close();
});
