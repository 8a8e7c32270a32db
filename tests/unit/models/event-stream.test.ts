/** Server-sent events out of the bytes of an answer. */
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

it.each(['\n', '\r\n', '\r'])('gives the same data wherever the bytes are cut, lines ending with %j', async (end) => {
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

it('gives nothing of an event whose end did not come, nor of a text that is no stream of events', async () => {
  expect(await dataOf('data: 1\n\ndata: 2\n', 4)).toEqual(['1']);
  expect(await dataOf('{"error":"no"}\n\n<html>\n\n', 4)).toEqual([]);
});

it('throws what the reader throws, and at an event without end', async () => {
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
