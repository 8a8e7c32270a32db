/** Images of results, as models receive them. */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseDataUrl } from '#server/files/data-url.ts';
import { createImages } from '#server/images/images.ts';
import { toolResultOf } from '#server/mcp/results.ts';
import { withSmallImages } from '#server/mcp/small-images.ts';
import { blankPng, PIXEL } from '#support/images.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';

const images = createImages({ settings: () => ({}) });
let dir: string;
beforeEach(async () => void (dir = await temporaryDirectory()));
afterEach(() => rm(dir, { recursive: true, force: true }));

const image = (bytes: Buffer) => ({ type: 'image' as const, mimeType: 'image/png', data: bytes.toString('base64') });
const result = (...bytes: Buffer[]) =>
  withSmallImages(toolResultOf('mcp__s__t', { content: bytes.map(image) }), images, dir);

test('scales a large image down, stores the original, and describes it in the note', async () => {
  const { output, note, isError } = await result(PIXEL, blankPng(3000, 400));
  const widths = (Array.isArray(output) ? output : []).flatMap((part) =>
    part.type === 'image_url'
      ? Buffer.from(parseDataUrl(part.imageUrl.url)?.data ?? '', 'base64').readUInt32BE(16)
      : [],
  );
  expect([widths, isError]).toEqual([[1, 2000], undefined]);
  const [original = ''] = await readdir(join(dir, 'media-originals'));
  expect(note).toMatch(/^<system>The image was made smaller: .*3000x400 pixels.*<\/system>$/);
  expect(note).toContain(join(dir, 'media-originals', original));
});

test('leaves small images, damaged images and texts unchanged', async () => {
  const given = toolResultOf('t', { content: [image(PIXEL), image(blankPng(3000, 400).subarray(0, 40))] });
  expect(await withSmallImages(given, images, dir)).toBe(given);
  const words = toolResultOf('t', { content: [{ type: 'text', text: 'no image' }], isError: true });
  expect(await withSmallImages(words, images, dir)).toBe(words);
  expect(await readdir(dir)).toEqual([]);
});
