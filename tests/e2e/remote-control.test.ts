/** Built servers of one home: the option, a second server, a killed one, and proxies of the environment. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { remoteCloudDuringTest, type RemoteCloud } from '#support/cloud/remote-home.ts';
import { until } from '#support/patience.ts';
import { spawnServer, type SpawnOptions } from '#support/server.ts';
import { temporaryHome } from '#support/temporary-home.ts';

async function spawned({ env }: RemoteCloud, home: string, options: SpawnOptions = {}) {
  const server = await spawnServer({ ...options, home, env: { ...env, ...options.env } });
  onTestFinished(server.close);
  return {
    ...server,
    start: () => server.api('POST', '/remote-control', { enabled: true }),
    status: async () => (await server.api('GET', '/remote-control')).data as Record<string, unknown>,
  };
}

async function ownedLeases(home: string): Promise<number> {
  const names = (await readdir(join(home, 'remote'))).filter((name) => name.startsWith('lock.'));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(home, 'remote', name))).size));
  return sizes.filter((size) => size > 0).length;
}

it('a second server is refused with the holder, and starts after the holder was killed', async () => {
  const cloud = await remoteCloudDuringTest();
  const home = await temporaryHome();
  await cloud.logIn(home);
  const first = await spawned(cloud, home);
  const second = await spawned(cloud, home);
  const { data } = await first.start();
  expect(data).toMatchObject({ state: 'on' });
  const conflict = { pid: first.process.pid, local_origin: first.url, url: (data as { url: string }).url };
  expect(await second.start()).toMatchObject({ code: 40928, details: conflict });
  expect(await second.status()).toMatchObject({ conflict, error: expect.any(String) as string });
  await first.stop('SIGKILL');
  const now = await second.status();
  expect([now.state, now.conflict, now.error]).toEqual(['off', undefined, undefined]);
  expect(await second.start()).toMatchObject({ code: 0, data: { state: 'on' } });
  // A stop leaves no lease.
  await second.stop('SIGTERM');
  expect(await ownedLeases(home)).toBe(0);
});

it('a server deactivates the device that another one hosts', async () => {
  const cloud = await remoteCloudDuringTest();
  const home = await temporaryHome();
  await cloud.logIn(home);
  const first = await spawned(cloud, home);
  const second = await spawned(cloud, home);
  await first.start();
  const { deviceId } = cloud.relay.tunnel();
  expect(await second.api('POST', `/remote-control/devices/${deviceId}/deactivate`)).toMatchObject({ code: 0 });
  expect(await first.status()).toMatchObject({ state: 'off' });
  expect(cloud.relay.devices.get(deviceId)?.active).toBe(false);
});

it('--remote-control prints the address with the token and a QR code; a failure is one line', async () => {
  const cloud = await remoteCloudDuringTest();
  const home = await temporaryHome();
  await cloud.logIn(home);
  const server = await spawned(cloud, home, { args: ['--remote-control'] });
  await until(() => server.output().includes('█'));
  const { url } = await server.status();
  expect(server.output()).toContain(`Remote control: ${String(url)}#token=${server.token}`);
  expect(server.errors()).toBe('');
  const refused = await spawned(cloud, home, { args: ['--remote-control'] });
  await until(() => refused.errors());
  expect(refused.errors()).toMatch(/^Remote control: Remote control is already running in process \d+\n$/);
  expect((await refused.api('GET', '/meta')).code).toBe(0);
});
