/** The built server answers no request without the token, regardless of the spelling of the request target. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import endpoints from '#endpoints';
import { openRequests, requestWithoutBody } from '#support/open-requests.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

let server: SpawnedServer;
beforeAll(async () => (server = await spawnServer()));
afterAll(() => server.close());

it('refuses random targets of endpoints, and upgrades', async () => {
  const { open, guarded, upgrades } = await openRequests(server.url, server.token, endpoints, 1_500);
  expect(open).toEqual([]);
  // The targets are not all nonsense.
  expect(guarded).toBeGreaterThan(300);
  expect(upgrades).toBeGreaterThan(20);
  expect(await requestWithoutBody(server.url, 'GET', '*/api/v1/config')).toMatch(/^HTTP\/1\.1 400 /);
  expect(await requestWithoutBody(server.url, 'GET', '/api/v1/healthz')).toContain('"data":{"ok":true}');
});
