/** Prices of used tokens. */
import { expect, it } from 'vitest';
import { effectiveConfig } from '#server/config/effective.ts';
import { modelRecordSchema } from '#schema/rest/model.ts';
import { costOf } from '#server/models/usage-cost.ts';

const config = (models: Record<string, object>) =>
  effectiveConfig(
    {
      models: Object.fromEntries(
        Object.entries(models).map(([alias, record]) => [alias, modelRecordSchema.parse(record)]),
      ),
    },
    {},
  );
const usage = { inputOther: 1_000_000, output: 2_000_000, inputCacheRead: 3_000_000, inputCacheCreation: 4_000_000 };
const cost = { input: 1, output: 10, cacheRead: 100, cacheWrite: 1000 };

it.each<[string, object, number | undefined]>([
  ['all prices', { cost }, 1 + 20 + 300 + 4000],
  ['no prices of the cache', { cost: { input: 1, output: 10 } }, 1 + 20 + 3 + 4],
  ['prices of 0', { cost: { input: 0, output: 0 } }, 0],
  ['none', {}, undefined],
  ['malformed ones', { cost: { input: -1, output: 1 } }, undefined],
  ['overrides', { cost, overrides: { cost: { input: 2, output: 0 } } }, 2 + 6 + 8],
  ['malformed overrides', { cost: { input: 1, output: 0 }, overrides: { cost: 5 } }, 1 + 3 + 4],
])('a model with %s', (_name, record, total) => {
  expect(costOf({ m: usage }, config({ m: record }))).toBe(total);
});

it('adds the models, rounded to 6 decimals; one without a price leaves no sum', () => {
  const used = { inputOther: 1, output: 0, inputCacheRead: 0, inputCacheCreation: 0 };
  const models = { a: { cost: { input: 0.4, output: 0 } }, b: { cost: { input: 1.3, output: 0 }, aliases: ['c'] } };
  expect(costOf({ a: used, b: used }, config(models))).toBe(0.000002);
  expect(costOf({ c: used }, config(models))).toBe(0.000001);
  expect(costOf({ a: used, gone: used }, config(models))).toBeUndefined();
  expect(costOf({}, config(models))).toBeUndefined();
});
