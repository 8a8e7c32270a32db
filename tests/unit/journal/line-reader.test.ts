/** Lines of any length are complete, in order and with their offsets, however the file is split into reads. */
import { expect, it } from 'vitest';
import { readLines } from '#server/journal/line-reader.ts';
import { seeded } from '#support/random.ts';

const KIB = 1024;
const LENGTHS = [0, 1, 7, 300, 63 * KIB, 64 * KIB, 65 * KIB, 255 * KIB, 256 * KIB, 257 * KIB, 700 * KIB];

/** A file in memory; `grow` is called before each read. */
const reader = (bytes: () => Buffer, grow = () => {}) => ({
  async read(into: Buffer, length: number, position: number) {
    grow();
    return bytes().copy(into, 0, position, position + length);
  },
  size: async () => bytes().length,
  close: async () => {},
});

async function linesOf(...args: Parameters<typeof readLines>) {
  const lines: { text: string; offset: number; end: number }[] = [];
  for await (const group of readLines(...args)) lines.push(...group);
  return lines;
}

function linesIn(bytes: Buffer, start = 0) {
  const lines: { text: string; offset: number; end: number }[] = [];
  for (let at = start, end = bytes.indexOf(10, at); end !== -1; at = end + 1, end = bytes.indexOf(10, at)) {
    const text = bytes.toString('utf8', at, end);
    if (text.trim() !== '') lines.push({ text, offset: at, end: end + 1 });
  }
  return lines;
}

it.each([1, 2, 3])('reads a file between any two offsets (seed %i)', async (seed) => {
  const random = seeded(seed);
  const texts = Array.from({ length: 20 }, (_, line) => {
    const length = LENGTHS[Math.floor(random() * LENGTHS.length)] ?? 0;
    return `${line} ${'aé€😀'[Math.floor(random() * 3)]}`.padEnd(length, `${line},`);
  });
  const bytes = Buffer.from(`${texts.join('\n')}\n\n  \ntorn`);
  const lines = linesIn(bytes);
  const file = reader(() => bytes);
  expect(await linesOf(file, 0)).toEqual(lines);
  const from = lines[Math.floor(random() * lines.length)]?.offset ?? 0;
  expect(await linesOf(file, from)).toEqual(linesIn(bytes, from));
  const to = Math.floor(random() * bytes.length);
  expect(await linesOf(file, 0, to)).toEqual(linesIn(bytes.subarray(0, to)));
});

it('reads a file that grows meanwhile', async () => {
  let bytes = Buffer.from('begun');
  let reads = 0;
  const grow = () => {
    reads += 1;
    if (reads < 30) bytes = Buffer.concat([bytes, Buffer.from(`${reads}\n${'x'.repeat(reads * 10 * KIB)}`)]);
  };
  expect(
    await linesOf(
      reader(() => bytes, grow),
      0,
    ),
  ).toEqual(linesIn(bytes));
  expect(linesIn(bytes)).toHaveLength(29);
});
