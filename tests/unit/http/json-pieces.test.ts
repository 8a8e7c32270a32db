import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { jsonBody } from '#utils/http/json-pieces.ts';

const written = async (value: unknown) => {
  const body = jsonBody(value);
  return typeof body === 'string' ? body : text(body);
};
/** Returns a copy of an object without a prototype. */
const bare = (value: object) => Object.assign(Object.create(null), value);

describe('JSON in chunks', () => {
  it.each([
    null,
    1,
    'a"\u0000\n中😀',
    [],
    {},
    [1, [2, []], { a: {} }],
    { a: undefined, b: null, c: [undefined], 'd"': { e: { f: { g: { h: { i: [1, { j: undefined }] } } } } } },
    bare({ ['__proto__']: 1 }),
  ])('equals the output of JSON.stringify (%#)', async (value) => {
    expect(await written(value)).toBe(JSON.stringify(value));
    // Large values are written member by member.
    const much = 'x'.repeat(20_000);
    for (const whole of [
      [value, much, undefined, value],
      bare({ a: undefined, much, value, '"': [much, {}], b: undefined }),
    ]) {
      expect(await written(whole)).toBe(JSON.stringify(whole));
    }
  });

  it('is a stream of bounded chunks if it is long', async () => {
    const value = { data: Array.from({ length: 10_000 }, (_, index) => ({ index, text: '中'.repeat(50) })) };
    expect(await written(value)).toBe(JSON.stringify(value));
    const body = jsonBody(value);
    expect(body).toBeInstanceOf(Readable);
    const lengths: number[] = [];
    for await (const piece of body as Readable) lengths.push((piece as Buffer).length);
    expect(lengths.length).toBeGreaterThan(5);
    expect(Math.max(...lengths)).toBeLessThan(300_000);
  });

  it('divides a long text without splitting characters', async () => {
    for (const value of [{ text: `x${'😀"\n'.repeat(60_000)}` }, { text: '\uD83D'.repeat(200_000) }]) {
      expect(await written(value)).toBe(JSON.stringify(value));
      const lengths: number[] = [];
      for await (const piece of jsonBody(value) as Readable) lengths.push((piece as Buffer).length);
      expect(Math.max(...lengths)).toBeLessThan(500_000);
    }
  });
});
