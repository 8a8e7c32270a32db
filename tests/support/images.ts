/** Valid and broken images for tests. */
import { randomFillSync } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(data.length);
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(crc32(body));
  return Buffer.concat([head, body, tail]);
};

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** A PNG header that declares this size. */
export function pngHead(width: number, height: number, { depth = 8, color = 2, interlace = 0 } = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, color, 0, 0, interlace], 8);
  return Buffer.concat([SIGNATURE, chunk('IHDR', header)]);
}

/** A PNG of `head` and these chunks. */
export const png = (head: Buffer, ...chunks: [type: string, data: Uint8Array][]): Buffer =>
  Buffer.concat([head, ...chunks.map(([type, data]) => chunk(type, data)), chunk('IEND', Buffer.alloc(0))]);

/** A white PNG, which compresses to very few bytes. */
export function blankPng(width: number, height: number): Buffer {
  const rows = Buffer.alloc((width * 3 + 1) * height, 0xff);
  for (let y = 0; y < height; y += 1) rows[y * (width * 3 + 1)] = 0;
  return png(pngHead(width, height), ['IDAT', deflateSync(rows)]);
}

/** A PNG of random pixels, which does not compress. */
export function noisyPng(width: number, height: number): Buffer {
  const rows = randomFillSync(Buffer.alloc((width * 3 + 1) * height));
  for (let y = 0; y < height; y += 1) rows[y * (width * 3 + 1)] = 0;
  return png(pngHead(width, height), ['IDAT', deflateSync(rows, { level: 0 })]);
}

/** A GIF of one pixel. */
export const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');

/** A PNG of one pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
