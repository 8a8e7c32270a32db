import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { jsonResult, MAX_RESULT_BYTES } from '#server/debug/json-result.ts';
import { MAX_JSON_LEVELS } from '#server/text/json.ts';

const refusal = { name: 'internal.error', message: 'result cannot be sent' };

describe('a result that JSON has', () => {
  it.each([null, true, 0, -1.5, 'text', '', [], {}, { a: [1, { b: null }] }])('is sent as it is: %j', async (value) => {
    expect(await jsonResult(value)).toStrictEqual(value);
  });

  it('keeps members with the names of a prototype as own members', async () => {
    const value: unknown = JSON.parse('{"__proto__":{"a":1},"constructor":2}');
    const copy = await jsonResult(value);
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"a":1},"constructor":2}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
  });

  it('may contain one object at several places', async () => {
    const shared = { a: 1 };
    expect(await jsonResult([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
  });
});

describe('a result that JSON does not have', () => {
  it.each([
    ['a Map as its entries', new Map<unknown, unknown>([['a', new Map([[1, 2n]])]]), [['a', [[1, '2']]]]],
    ['a Set as an array', new Set([1, 'b']), [1, 'b']],
    ['a Date as its ISO text', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['an invalid Date as null', new Date(Number.NaN), null],
    ['a bigint as text', 2n ** 70n, '1180591620717411303424'],
    ['undefined as null', undefined, null],
    ['undefined in an array as null', [undefined, 1], [null, 1]],
    ['a member that is undefined not at all', { a: undefined, b: 1 }, { b: 1 }],
    ['numbers that are none as null', [Number.NaN, Infinity, -Infinity], [null, null, null]],
    ['an object without prototype as one with', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  ])('is sent: %s', async (_name, value, sent) => {
    expect(await jsonResult(value)).toStrictEqual(sent);
  });

  const cycle: Record<string, unknown> = { a: {} };
  cycle.a = { b: cycle };
  const map = new Map<unknown, unknown>();
  map.set('self', map);
  it.each([
    ['a function', () => 1],
    ['a function within', { a: [() => 1] }],
    ['a symbol', Symbol('s')],
    ['a cycle', cycle],
    ['a cycle of a Map', map],
    ['a stream', Readable.from(['a'])],
    ['bytes', Buffer.from('a')],
    [
      'an instance of a class',
      new (class Own {
        a = 1;
      })(),
    ],
    ['an error', new Error('e')],
    ['a getter that throws', { get a() { throw new Error('private'); } }], // prettier-ignore
    ['a conversion of its own', { toJSON: () => 1 }],
  ])('is refused: %s', async (_name, value) => {
    await expect(jsonResult(value)).rejects.toMatchObject(refusal);
  });
});

describe('limits of a result', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

  it('are so many levels', async () => {
    await expect(jsonResult(nested(MAX_JSON_LEVELS))).resolves.toEqual(nested(MAX_JSON_LEVELS));
    await expect(jsonResult(nested(MAX_JSON_LEVELS + 1))).rejects.toMatchObject(refusal);
  });

  /** Values whose JSON text has exactly `bytes` bytes. */
  const ofSize: Record<string, (bytes: number) => unknown> = {
    'a text': (bytes) => 'a'.repeat(bytes - 2),
    'escapes and long characters': (bytes) => ['\n"ü€', 'a'.repeat(bytes - 16)],
    'keys and scalars': (bytes) => ({ a: [true, null, -1.5, undefined], bc: 'a'.repeat(bytes - 35) }),
  };
  it.each(Object.entries(ofSize))('are 8 MiB of JSON text: %s', async (_name, make) => {
    const largest = make(MAX_RESULT_BYTES);
    expect(Buffer.byteLength(JSON.stringify(largest))).toBe(MAX_RESULT_BYTES);
    await expect(jsonResult(largest)).resolves.toBeDefined();
    await expect(jsonResult(make(MAX_RESULT_BYTES + 1))).rejects.toMatchObject(refusal);
  });

  it('end the walk of a value that would never end', async () => {
    // Each level refers to the next one twice: 2 ** 100 texts in 100 objects.
    let doubling: unknown = 'a'.repeat(1000);
    for (let level = 0; level < 100; level += 1) doubling = [doubling, doubling];
    await expect(jsonResult(doubling)).rejects.toMatchObject(refusal);
  });

  it('are checked without blocking the event loop', async () => {
    const large = Array.from({ length: 1_000_000 }, (_, index) => index);
    let turns = 0;
    let done = false;
    const count = () => {
      turns += 1;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    await jsonResult(large);
    done = true;
    expect(turns).toBeGreaterThan(2);
  });
});
