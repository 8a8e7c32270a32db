/** The effect of terminals on how long their session stays loaded. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { manualClock } from '#support/manual-clock.ts';
import { openTerminal, viewTerminal } from '#support/terminals.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect, type WsClient } from '#support/ws-client.ts';

const MINUTE_MS = 60_000;

const clock = manualClock();
let world: World;
let client: WsClient;
beforeAll(async () => {
  world = await startWorld({ clock });
  client = await connect(world.server);
});
afterAll(async () => {
  await client.close();
  await world.close();
});

const isLoaded = (id: string) => world.server.app.sessions.liveRow(id) !== undefined;

/** Advances the clock by an hour, and waits for each check for idle sessions before the next minute. */
async function anHour() {
  for (let minute = 0; minute < 60; minute += 1) {
    await expect.poll(() => clock.waits().some((ms) => ms <= MINUTE_MS), { interval: 1 }).toBe(true);
    clock.advance(MINUTE_MS);
  }
}

test('a running one keeps its session loaded without any viewer, an exited one does not and is removed with it', async () => {
  const { id } = await world.session();
  const { id: idle } = await world.session();
  const terminal = await openTerminal(world, id);
  const viewed = viewTerminal(client, terminal);
  await viewed.send('attach');
  await viewed.send('detach');
  await anHour();
  await expect.poll(() => isLoaded(idle)).toBe(false);
  expect(isLoaded(id)).toBe(true);

  await viewed.send('attach');
  await viewed.send('input', { data: 'exit\n' });
  await viewed.exit();
  await anHour();
  await expect.poll(() => isLoaded(id)).toBe(false);
  // Attaching does not load the session.
  expect(await viewed.send('attach')).toMatchObject({ code: 40414 });
  expect(isLoaded(id)).toBe(false);
  const list = z.object({ items: z.array(z.unknown()) });
  expect(list.parse(await world.ok('GET', `/sessions/${id}/terminals`))).toEqual({ items: [] });
  expect(isLoaded(id)).toBe(true);
});
