/** Schemas of foreign servers: which are accepted, and which arguments fit. */
import { afterAll, expect, test } from 'vitest';
import type { ArgumentSchema } from '#server/mcp/plain-schemas.ts';
import { createSchemas, MAX_SCHEMA_BYTES } from '#server/mcp/schemas.ts';
import { watchStalls } from '#support/stalls.ts';

const schemas = createSchemas();
afterAll(() => schemas.close());

const object = (more: Record<string, unknown>) => ({ type: 'object', ...more });
const problem = async (schema: unknown) => {
  const checked = await schemas.check(schema);
  return 'problem' in checked ? checked.problem : undefined;
};

async function usable(schema: unknown): Promise<ArgumentSchema> {
  const checked = await schemas.check(schema);
  if ('problem' in checked) throw new Error(checked.problem);
  return checked;
}

test('each draft has its own keywords for the same rule', async () => {
  const pair = [{ type: 'string' }, { type: 'number' }];
  const drafts = {
    'http://json-schema.org/draft-07/schema#': object({ properties: { a: { items: pair } } }),
    'https://json-schema.org/draft/2019-09/schema': object({ properties: { a: { items: pair } } }),
    'https://json-schema.org/draft/2020-12/schema': object({ properties: { a: { prefixItems: pair } } }),
  };
  for (const [$schema, schema] of Object.entries(drafts)) {
    const known = await usable({ ...schema, $schema });
    expect(await schemas.problemOf(known, { a: ['x', 1] })).toBeUndefined();
    expect(await schemas.problemOf(known, { a: [1, 1] })).toBe('a.0: must be string');
  }
  // Without `$schema`, the draft that older libraries write is understood, too.
  const old = await usable(object({ properties: { a: { items: pair } } }));
  expect(await schemas.problemOf(old, { a: [1] })).toBe('a.0: must be string');
});

test('all problems are reported, each with its field', async () => {
  const schema = await usable(
    object({
      properties: { a: { type: 'string' }, b: { type: 'integer' } },
      required: ['a'],
      additionalProperties: false,
    }),
  );
  expect(await schemas.problemOf(schema, { a: 'x', b: 1 })).toBeUndefined();
  expect(await schemas.problemOf(schema, { b: 'x', c: 1 })).toBe(
    "must have required property 'a'; must NOT have additional properties: c; b: must be integer",
  );
});

test('the schema for models has `properties` even when there are none, and no `$schema`', async () => {
  expect((await usable({ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' })).parameters).toEqual({
    type: 'object',
    properties: {},
  });
});

test('an invalid schema is rejected', async () => {
  expect(await problem(undefined)).toBe('it is no schema of an object');
  expect(await problem({ type: 'string' })).toBe('it is no schema of an object');
  expect(await problem(object({ properties: { a: { type: 'nothing' } } }))).toMatch(/type/);
  expect(await problem(object({ properties: { a: { $ref: 'https://example.com/a.json' } } }))).toMatch(/can't resolve/);
  expect(await problem(object({ properties: { a: { pattern: '(' } } }))).toMatch(/regular expression/i);
  expect(await problem(object({ description: 'x'.repeat(MAX_SCHEMA_BYTES) }))).toMatch(/above 262144 bytes/);
});

test('an `$id` in one schema is not visible to another', async () => {
  const own = { $id: 'https://example.com/shared', type: 'string' };
  const first = await usable(object({ $defs: { own }, properties: { a: { $ref: 'https://example.com/shared' } } }));
  const second = await usable(
    object({ $defs: { own: { ...own, type: 'number' } }, properties: { a: { $ref: 'https://example.com/shared' } } }),
  );
  expect(await schemas.problemOf(first, { a: 'x' })).toBeUndefined();
  expect(await schemas.problemOf(second, { a: 'x' })).toBe('a: must be number');
  await problem(object({ $id: 'http://json-schema.org/draft-07/schema', properties: {} }));
  expect(await problem({ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' })).toBeUndefined();
});

test('neither a schema nor an expression that takes forever blocks the event loop', async () => {
  // Each member doubles the time: compiled on the main thread it would block for longer than any test waits.
  const branches = (depth: number): unknown =>
    depth === 0 ? { type: 'string' } : { anyOf: Array.from({ length: 6 }, () => branches(depth - 1)) };
  const endless = object({ properties: { a: branches(5) } });
  const catastrophic = await usable(object({ properties: { a: { type: 'string', pattern: '^(a+)+$' } } }));
  const watch = await watchStalls();
  expect(await problem(endless)).toMatch(/longer than 100 ms|above/);
  expect(await schemas.problemOf(catastrophic, { a: `${'a'.repeat(60)}!` })).toBe('it takes longer than 100 ms');
  expect(watch.stop().filter(({ ms }) => ms > 100)).toEqual([]);
  // The next task is not affected.
  expect(await schemas.problemOf(catastrophic, { a: 'aaa' })).toBeUndefined();
});
