/** The price of a session in its snapshot, and that no other reply has prices. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '#support/patience.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({
    modelRecord: { cost: { input: 2, output: 8, cache_read: 0.5 } },
    models: { free: { model: 'fake-2' } },
  });
});
afterAll(() => world.close());

async function turn(id: string, more: object = {}): Promise<void> {
  world.model.enqueue({ text: 'hello', usage: { input: 1000, cached: 400, output: 10 } });
  await world.prompt(id, 'hi', { ...more });
  await eventually(async () => expect((await world.api('GET', `/sessions/${id}`)).data).toMatchObject({ busy: false }));
}
const costOf = async (id: string) => (await world.snapshot(id)).session.usage.total_cost_usd;

it('the snapshot has the price of all models, if each has prices at present', async () => {
  const { id, usage } = await world.session();
  expect(usage.total_cost_usd).toBe(0);
  expect(await costOf(id)).toBeUndefined();
  await turn(id);
  // 600 tokens of input, 400 from the cache, 10 of output.
  expect(await costOf(id)).toBe(0.00148);
  await world.ok('POST', '/config', { models: { 'fake/fake-1': { overrides: { cost: { input: 1, output: 0 } } } } });
  expect(await costOf(id)).toBe(0.001);
  await turn(id, { model: 'free' });
  expect(await costOf(id)).toBeUndefined();
  await world.ok('POST', '/config', { models: { free: { cost: { input: 1, output: 0 } } } });
  expect(await costOf(id)).toBe(0.002);
  await world.restart();
  expect(await costOf(id)).toBe(0.002);
  expect((await world.api('GET', `/sessions/${id}`)).data).toMatchObject({ usage: { total_cost_usd: 0 } });
});

it('prices are in the configuration, in camel case, and in no list', async () => {
  expect((await world.api('GET', '/config')).data).toMatchObject({
    models: { 'fake/fake-1': { cost: { input: 2, output: 8, cacheRead: 0.5 } } },
  });
  for (const path of ['/models', '/providers', '/providers/fake']) {
    expect(JSON.stringify((await world.api('GET', path)).data)).not.toContain('cost');
  }
});
