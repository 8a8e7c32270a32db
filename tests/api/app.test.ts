/** The app as a whole: it releases all resources that it opens. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import memory from 'unstorage/drivers/memory';
import { expect, it } from 'vitest';
import { appOptions } from '#server/app/options.ts';
import { createApp } from '#server/app/app.ts';
import { createLogger } from '#server/logging/log.ts';
import { startServer } from '#support/server.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

it('a start that fails half-way releases its resources', async () => {
  const home = await temporaryHome();
  const before = timers();
  // The failing call comes after the instance is registered and the configuration loaded.
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

it('documents are stored by the drivers in the options', async () => {
  const home = await temporaryHome();
  const server = await startServer({ home, documents: { home: memory() } });
  await server.api('POST', '/workspaces', { root: home });
  expect(await server.api('GET', '/workspaces')).toMatchObject({ data: { items: [{ root: home }] } });
  await server.close();
  const names = await readdir(home);
  expect(names).not.toContain('workspaces.json');
  expect(names).not.toContain('device_id');
});

it('the index of an older version is removed unless a server of another version runs', async () => {
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
  // The list is answered only after the index is open, long after the check for old indexes started.
  await first.api('GET', '/sessions');
  await first.close();
  expect(existsSync(old)).toBe(true);
  await rm(other);
  const second = await startServer({ home });
  await expect.poll(() => existsSync(old)).toBe(false);
  await second.close();
});
