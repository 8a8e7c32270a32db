/** Server-sent events parsed from the bytes of a response. */
import { expect, it } from 'vitest';
import { readEvents } from '#server/models/protocols/event-stream.ts';

async function* inPieces(bytes: Uint8Array, length: number) {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

async function dataOf(text: string, length: number): Promise<string[]> {
  const found: string[] = [];
  await readEvents(inPieces(Buffer.from(text), length), (data) => found.push(data));
  return found;
}

it.each(['\n', '\r\n', '\r'])('returns the same data for any split of the bytes, lines ending with %j', async (end) => {
  const lines = [
    '\u{FEFF}data: {"a":"é…😀"}',
    '',
    ': a comment',
    'event: x',
    'id: 1',
    'data: one',
    'data: two',
    '',
    'data:3',
    '',
    ': end',
  ];
  const text = lines.join(end) + end;
  for (const length of [1, 2, 3, 5, 7, 1000]) {
    expect(await dataOf(text, length)).toEqual(['{"a":"é…😀"}', 'one\ntwo', '3']);
  }
});

it('returns no data for an incomplete event, nor for a text that is not a stream of events', async () => {
  expect(await dataOf('data: 1\n\ndata: 2\n', 4)).toEqual(['1']);
  expect(await dataOf('{"error":"no"}\n\n<html>\n\n', 4)).toEqual([]);
});

it('throws what the reader throws, and at an oversized event', async () => {
  const failing = readEvents(inPieces(Buffer.from('data: 1\n\n'), 100), () => {
    throw new Error('not that');
  });
  await expect(failing).rejects.toThrow('not that');

  let sent = 0;
  async function* endless() {
    const piece = Buffer.alloc(1024 * 1024, 'a');
    yield Buffer.from('data: ');
    for (;;) {
      sent += 1;
      yield piece;
    }
  }
  await expect(readEvents(endless(), () => undefined)).rejects.toThrow('exceeded');
  expect(sent).toBeLessThan(40);
});
