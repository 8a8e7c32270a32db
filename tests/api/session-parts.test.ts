/** Features of a session are opened lazily, at their first use or when the session is loaded. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Feature } from '#server/agent/contract/feature.ts';
import { features } from '#server/features/features.ts';
import { startWorld, type World } from '#support/world.ts';

const opened: string[] = [];
const released: string[] = [];

const counting: Feature = {
  name: 'counting',
  open({ id }) {
    opened.push(id);
    return { onUnload: async () => void released.push(id) };
  },
};

let world: World;
beforeAll(async () => {
  world = await startWorld({ features: [...features, counting] });
});
afterAll(() => world.close());

test('a session that is only created, listed, renamed and archived opens no feature', async () => {
  const { id } = await world.session();
  const path = `/sessions/${id}`;
  await world.ok('GET', '/sessions');
  await world.ok('GET', path);
  await world.ok('POST', `${path}/profile`, { title: 'named' });
  await world.ok('POST', `${path}:archive`);
  expect([opened, released]).toEqual([[], []]);
  await world.ok('POST', `${path}:restore`);
  expect([opened, released]).toEqual([[id], []]);
  await world.ok('POST', `${path}:archive`);
  expect([opened, released]).toEqual([[id], [id]]);
  opened.length = 0;
  released.length = 0;
});

test('the first read or change of a feature’s state opens them, a single time', async () => {
  const { id } = await world.session();
  const path = `/sessions/${id}`;
  await world.ok('GET', `${path}/snapshot`);
  await world.ok('GET', `${path}/snapshot`);
  await world.ok('POST', `${path}/profile`, { agent_config: { permission_mode: 'auto' } });
  expect(opened).toEqual([id]);
  await world.ok('POST', `${path}:archive`);
  expect(released).toEqual([id]);
});
