import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { inPortions, ItemPortions, portionsReply } from '#utils/http/item-portions.ts';

async function* portionsOf(portions: number[][]) {
  yield* portions;
  return undefined;
}

const reply = (data: unknown, check: (data: object) => void = () => undefined) => {
  if (!(data instanceof ItemPortions)) throw new Error('no portions');
  const { body, ...rest } = portionsReply(data, 'id"', 200, check);
  if (!(body instanceof Readable)) throw new Error('no stream');
  return { body, ...rest };
};

it.each([[[]], [[[]]], [[[1, 2]]]])('%j is plain data', async (portions) => {
  expect(await inPortions(portionsOf(portions), { has_more: false })).toEqual({
    items: portions.flat(),
    has_more: false,
  });
});

it.each([[[[1, 2], [3], [4, 5]]], [[[1], []]], [[[], [1]]], [[[], []]]])(
  '%j is the envelope of one list',
  async (portions) => {
    const checked: object[] = [];
    const data = await inPortions(portionsOf(portions), { has_more: false });
    const { body, ...rest } = reply(data, (each) => checked.push(each));
    expect(rest).toEqual({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, code: 0 });
    const written = await text(body);
    expect(written).toBe(
      JSON.stringify({ code: 0, msg: 'success', data: { items: portions.flat(), has_more: false }, request_id: 'id"' }),
    );
    expect(checked).toEqual(portions.map((items) => ({ items, has_more: false })));
  },
);

it('rejects where the first portion fails, and breaks the stream where a later one does', async () => {
  async function* failing(after: number) {
    for (let count = 0; count < after; count++) yield [count];
    await Promise.reject(new Error('unreadable'));
    return undefined;
  }
  await expect(inPortions(failing(0), {})).rejects.toThrow('unreadable');
  await expect(text(reply(await inPortions(failing(3), {})).body)).rejects.toThrow('unreadable');
});

it('reads no further when the client has disconnected', async () => {
  let read = 0;
  async function* endless(): AsyncGenerator<string[], undefined> {
    for (;;) {
      read += 1;
      yield ['x'.repeat(10_000)];
    }
  }
  const { body } = reply(await inPortions(endless(), {}));
  body.once('readable', () => body.destroy());
  await new Promise((resolve) => body.once('close', resolve));
  const before = read;
  await new Promise((resolve) => setImmediate(resolve));
  expect(read).toBe(before);
});
