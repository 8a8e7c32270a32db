import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { loadUndici, PARTS } from '#server/net/load-undici.ts';

it('loads modules first that the entry of undici requires', () => {
  const require = createRequire(import.meta.url);
  require('undici');
  for (const part of PARTS) expect(require.cache).toHaveProperty([require.resolve(part)]);
});

it('lets the event loop turn before it resolves', async () => {
  let turns = 0;
  const turn = () => {
    turns += 1;
    if (turns < PARTS.length) setImmediate(turn);
  };
  setImmediate(turn);
  const { EnvHttpProxyAgent } = await loadUndici();
  expect(EnvHttpProxyAgent).toBeTypeOf('function');
  expect(turns).toBe(PARTS.length);
});
