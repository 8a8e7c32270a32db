/** Scheduled refreshes of running servers; `tests/unit/model-catalog/refresh-schedule.test.ts` has the other cases. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { leaseReleased } from '#server/storage/lease.ts';
import { cloudDuringTest } from '#support/cloud/cloud.ts';
import { createCloudRegistry, registryEntry } from '#support/cloud/registry.ts';
import { manualClock } from '#support/manual-clock.ts';
import { eventually } from '#support/patience.ts';
import { refreshHome } from '#support/refresh-home.ts';

const INTERVAL_MS = 21_600_000;

async function setUp() {
  const registry = createCloudRegistry({ a: registryEntry('acme', { m: {} }) });
  const cloud = await cloudDuringTest(registry.part);
  const home = await refreshHome(`[providers.acme]
type = "openai"
source = { kind = "apiJson", url = "${cloud.url}/registry.json", apiKey = "" }
`);
  const clock = manualClock();
  const lock = join(home.home, 'cache', 'model-refresh.json.lock');
  const last = async () => JSON.parse(await readFile(join(home.home, 'cache', 'model-refresh.json'), 'utf8')) as object;
  return { registry, cloud, home, clock, lock, last, start: () => home.start({ clock, env: () => ({}) }) };
}

it('refreshes after the start, and then by the interval', async () => {
  const { cloud, clock, start, last, home } = await setUp();
  const server = await start();
  expect(cloud.requests).toEqual([]);
  clock.advance(100);
  await eventually(async () => expect(await last()).toMatchObject({ server_id: server.app.serverId }));
  expect(cloud.requests).toHaveLength(1);
  expect((await home.document()).models).toHaveProperty(['acme/m']);
  clock.advance(INTERVAL_MS - 100);
  await eventually(() => expect(cloud.requests).toHaveLength(2));
});

it('of two servers that start together one refreshes', async () => {
  const { cloud, clock, start, last, lock } = await setUp();
  await start();
  await start();
  clock.advance(100);
  await eventually(async () => expect(await last()).toHaveProperty('server_id'));
  // The second one may wait for the run of the first; both have had the lease then.
  await eventually(async () => {
    clock.advance(1000);
    expect((await readFile(`${lock}.2`)).length).toBe(0);
  });
  expect(await leaseReleased(lock)).toBe(true);
  expect(cloud.requests).toHaveLength(1);
});

it('a server answers and stops immediately while a registry does not answer', async () => {
  const { cloud, clock, start, registry } = await setUp();
  registry.answerNext('hang');
  const server = await start();
  clock.advance(100);
  await eventually(() => expect(cloud.requests).toHaveLength(1));
  for (const path of ['/meta', '/models', '/providers']) expect((await server.api('GET', path)).code).toBe(0);
  await server.close();
});
