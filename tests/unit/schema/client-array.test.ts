import { expect, it } from 'vitest';
import * as z from 'zod';
import { clientArray } from '#schema/client-array.ts';
import { submitPromptSchema } from '#schema/rest/prompt.ts';

const schema = z.object({ names: clientArray(z.string(), { min: 1, max: 3 }).optional() });
const issues = (value: unknown) => schema.safeParse(value).error?.issues.map(({ path, message }) => [path, message]);

it('reports the issues of a plain zod array', () => {
  expect(issues({ names: ['a', 'b', 'c'] })).toBeUndefined();
  expect(issues({})).toBeUndefined();
  expect(issues({ names: [] })).toEqual([[['names'], 'Too small: expected array to have >=1 items']]);
  expect(issues({ names: 'a' })).toEqual([[['names'], 'Invalid input: expected array, received string']]);
  expect(issues({ names: [1] })).toEqual([[['names', 0], 'Invalid input: expected string, received number']]);
});

it('checks no item of an array that is too long', () => {
  expect(issues({ names: [1, 2, 3, 4] })).toEqual([[['names'], 'Too big: expected array to have <=3 items']]);
  let looked = 0;
  const counting = clientArray(
    z.custom(() => {
      looked += 1;
      return true;
    }),
    { max: 3 },
  );
  expect(counting.safeParse([1, 2, 3, 4]).success).toBe(false);
  expect(looked).toBe(0);
  expect(counting.safeParse([1, 2, 3]).success).toBe(true);
  expect(looked).toBe(3);
});

it('is documented with its bounds', () => {
  const { properties } = z.toJSONSchema(schema, { io: 'input' });
  expect(properties?.names).toEqual({ type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 });
});

it('rejects a prompt of a million parts with one issue', () => {
  const content = Array.from({ length: 1_000_000 }, () => 0);
  expect(submitPromptSchema.safeParse({ content }).error?.issues).toMatchObject([
    { path: ['content'], message: 'Too big: expected array to have <=10000 items' },
  ]);
});
