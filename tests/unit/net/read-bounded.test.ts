import { expect, it } from 'vitest';
import { BodyTooLarge, readBounded } from '#server/net/read-bounded.ts';

/** A response with these chunks; `isCancelled` reports whether its reader gave up. */
function responseOf(chunks: Uint8Array[]) {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const next = chunks.shift();
        if (next) controller.enqueue(next);
        else controller.close();
      },
      cancel: () => void (cancelled = true),
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(body), isCancelled: () => cancelled };
}

const MIB = 1024 * 1024;

/** Bytes in which no part repeats soon. */
const pattern = (size: number) => Uint8Array.from({ length: size }, (_, n) => (n * 7 + (n >> 8)) % 251);

it.each([
  ['nothing', []],
  ['empty chunks', [0, 0]],
  ['single bytes', Array.from({ length: 1000 }, () => 1)],
  ['one large chunk', [3 * MIB + 1]],
  ['chunks of the size of a block', [16 * 1024, 32 * 1024, MIB, MIB]],
  ['odd chunks', [5, 70_001, 900_000, 1, 16_383, 2 * MIB]],
])('joins %s', async (_what, sizes) => {
  const whole = pattern(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  const { response } = responseOf(sizes.map((size) => whole.slice(at, (at += size))));
  const read = await readBounded(response, whole.byteLength);
  expect(Buffer.compare(read, whole)).toBe(0);
  expect(read.buffer.byteLength).toBe(whole.byteLength);
});

it('reads a response without a body', async () => {
  expect(await readBounded(new Response(null, { status: 204 }), 10)).toHaveLength(0);
});

it('gives up a body that exceeds the limit, and cancels it', async () => {
  const { response, isCancelled } = responseOf([pattern(10), pattern(1), pattern(10)]);
  await expect(readBounded(response, 10)).rejects.toThrow(BodyTooLarge);
  expect(isCancelled()).toBe(true);
});
