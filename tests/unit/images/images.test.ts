import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createImages, IMAGE_MAX_BYTES, RegionError, type Fitted, type ImageSettings } from '#server/images/images.ts';
import { encodeJpeg } from '#server/images/decoder.ts';
import { cutRegion, wholeImage } from '#server/images/ladder.ts';
import { blankPng, GIF, noisyPng, PIXEL, png, pngHead } from '#support/images.ts';

let settings: ImageSettings = {};
const images = createImages({ settings: () => settings });
const fit = (bytes: Uint8Array, maxBytes?: number) => images.fit(async () => bytes, maxBytes);

/** The result as an obstacle, or as the new size. */
function outcome(fitted: Fitted | undefined): string {
  if (!fitted) return 'no image';
  const { smaller, obstacle } = fitted;
  if (smaller) return `${smaller.type} ${smaller.size.width}x${smaller.size.height}`;
  return obstacle ?? 'unchanged';
}

/** Test image: red and green above, blue and white below. */
const corners = (width: number, height: number) => {
  const data = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const [right, below] = [x >= width / 2, y >= height / 2];
      data.set(
        below ? (right ? [255, 255, 255] : [0, 0, 255]) : right ? [0, 255, 0] : [255, 0, 0],
        (y * width + x) * 3,
      );
    }
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
};
const names: Record<string, string> = { '1,0,0': 'red', '0,1,0': 'green', '0,0,1': 'blue', '1,1,1': 'white' };

/** Colours of the corners, clockwise from the top left. */
async function colours(bytes: Uint8Array): Promise<string> {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  const at = (x: number, y: number) => {
    const from = (y * info.width + x) * info.channels;
    return names[[...data.subarray(from, from + 3)].map((value) => Math.round(value / 255)).join()] ?? 'other';
  };
  const [right, below] = [info.width - 1, info.height - 1];
  return [at(0, 0), at(right, 0), at(right, below), at(0, below)].join(' ');
}

describe('the ladder', () => {
  const steps = (rungs: ReturnType<typeof cutRegion>) =>
    rungs.map(({ edge, quality }) => (quality === undefined ? `png ${edge}` : `${quality}% ${edge}`));
  const photographs = (...edges: number[]) => edges.flatMap((edge) => [80, 60, 40, 20].map((q) => `${q}% ${edge}`));

  it.each([
    ['a drawing', wholeImage('image/png', 2000), ['png 2000', 'png 1000', ...photographs(1000, 768, 512, 384, 256)]],
    ['a photograph', wholeImage('image/jpeg', 2000), photographs(2000, 1000, 768, 512, 384, 256)],
    ['a small drawing', wholeImage('image/webp', 600), ['png 600', 'png 512', ...photographs(512, 384, 256)]],
    ['a tiny one', wholeImage('image/png', 100), ['png 100', ...photographs(100)]],
    ['a region', cutRegion(800), ['png 800', ...photographs(800, 768, 512, 384, 256)]],
  ])('of %s', (_what, rungs, expected) => {
    expect(steps(rungs)).toEqual(expected);
  });

  it('stops at the first rung that fits, or returns the smallest', async () => {
    const noise = noisyPng(700, 500);
    expect(outcome(await fit(noise, 700_000))).toBe('image/png 512x366');
    expect(outcome(await fit(noise, 100_000))).toMatch(/^image\/jpeg 512x366$/);
    const { smaller } = (await fit(noise, 1)) ?? {};
    expect(smaller).toMatchObject({ type: 'image/jpeg', size: { width: 256, height: 183 } });
    const photograph = await sharp(noise).jpeg({ quality: 100 }).toBuffer();
    expect(outcome(await fit(photograph, 200_000))).toBe('image/jpeg 700x500');
  });

  it('returns the original if it is small enough or scaling would save no bytes', async () => {
    const exact = blankPng(2000, 10);
    expect(await fit(exact)).toEqual({
      original: { data: exact, type: 'image/png', size: { width: 2000, height: 10 } },
    });
    expect(outcome(await fit(PIXEL, 10))).toBe('unchanged');
  });

  it('applies the settings', async () => {
    settings = { maxEdgePx: 100, readByteBudget: 7 };
    expect(outcome(await fit(blankPng(200, 50)))).toBe('image/png 100x25');
    expect(images.readByteBudget()).toBe(7);
    settings = {};
    expect(images.readByteBudget()).toBe(262_144);
  });

  it('turns transparent pixels white in a JPEG', async () => {
    const clear = { data: Buffer.alloc(40 * 40 * 4), width: 40, height: 40, channels: 4 as const };
    expect(await colours(await encodeJpeg(clear, 80))).toBe('white white white white');
  });
});

describe('the orientation of a photograph', () => {
  beforeAll(() => void (settings = { maxEdgePx: 100 }));
  afterAll(() => void (settings = {}));
  it.each([
    [1, 'red green white blue'],
    [2, 'green red blue white'],
    [3, 'white blue red green'],
    [4, 'blue white green red'],
    [5, 'red blue white green'],
    [6, 'blue red green white'],
    [7, 'white green red blue'],
    [8, 'green white blue red'],
  ])('%i', async (orientation, expected) => {
    const turned = orientation > 4;
    const photograph = await corners(240, 120).jpeg().withMetadata({ orientation }).toBuffer();
    const { original, smaller } = (await fit(photograph)) ?? {};
    expect(original?.size).toEqual(turned ? { width: 120, height: 240 } : { width: 240, height: 120 });
    expect(smaller?.size).toEqual(turned ? { width: 50, height: 100 } : { width: 100, height: 50 });
    expect(smaller && (await colours(smaller.data))).toBe(expected);
    // A region refers to the image with its orientation applied.
    const { width, height } = original?.size ?? expect.unreachable();
    const region = { x: width / 2, y: height / 2, width, height };
    const cut = await images.crop(async () => photograph, region);
    expect(cut?.region).toMatchObject({ width: width / 2, height: height / 2 });
    const below = expected.split(' ')[2];
    expect(cut && (await colours(cut.smaller.data))).toBe([below, below, below, below].join(' '));
  });
});

describe('untrusted files', () => {
  let whole: Buffer;
  let photograph: Buffer;
  const made = new Map<string, Buffer>();
  beforeAll(async () => {
    whole = blankPng(2500, 100);
    photograph = await corners(2500, 100).jpeg().toBuffer();
    const frames = Buffer.alloc(2500 * 40 * 3, 9);
    frames.fill(200, 2500 * 20 * 3);
    const two = () => sharp(frames, { raw: { width: 2500, height: 40, channels: 3, pageHeight: 20 } });
    const sixteen = Buffer.alloc(2200 * 10 * 6, 0x55);
    const deep = png(pngHead(2200, 10, { depth: 16 }), [
      'IDAT',
      deflateSync(
        Buffer.concat(
          Array.from({ length: 10 }, (_, y) =>
            Buffer.concat([Buffer.alloc(1), sixteen.subarray(y * 2200 * 6, (y + 1) * 2200 * 6)]),
          ),
        ),
      ),
    ]);
    const frameControl = Buffer.alloc(8);
    frameControl.writeUInt32BE(2);
    const head = pngHead(2500, 100);
    for (const [name, bytes] of Object.entries({
      'animated WebP': await two().webp({ loop: 0 }).toBuffer(),
      'still WebP': await sharp(whole).webp().toBuffer(),
      APNG: Buffer.concat([
        whole.subarray(0, head.length),
        png(head, ['acTL', frameControl]).subarray(head.length, -12),
        whole.subarray(head.length),
      ]),
      CMYK: await corners(2500, 10).toColourspace('cmyk').jpeg().toBuffer(),
      '16 bits a channel': deep,
      grey: await sharp(whole).toColourspace('b-w').png().toBuffer(),
      'ICC profile': await corners(2500, 10).withIccProfile('p3').png().toBuffer(),
      'broken ICC profile': png(
        head,
        ['iCCP', Buffer.from('x\0\0broken')],
        ['IDAT', whole.subarray(head.length + 8, -16)],
      ),
      interlaced: await sharp(whole).png({ progressive: true }).toBuffer(),
      progressive: await corners(2500, 10).jpeg({ progressive: true }).toBuffer(),
      palette: await sharp(whole).png({ palette: true }).toBuffer(),
    }))
      made.set(name, bytes);
  });

  it.each<[name: string, expected: string]>([
    ['animated WebP', 'animated'],
    ['still WebP', 'image/png 2000x80'],
    ['APNG', 'image/png 2000x80'],
    ['CMYK', 'image/jpeg 2000x8'],
    ['16 bits a channel', 'image/png 2000x9'],
    ['grey', 'image/png 2000x80'],
    ['ICC profile', 'image/png 2000x8'],
    ['broken ICC profile', 'image/png 2000x80'],
    ['interlaced', 'image/png 2000x80'],
    ['progressive', 'image/jpeg 2000x8'],
    ['palette', 'image/png 2000x80'],
  ])('%s: %s', async (name, expected) => {
    expect(outcome(await fit(made.get(name) ?? expect.unreachable()))).toBe(expected);
  });

  const latin = (text: string) => Buffer.from(text, 'latin1');
  const jpegHead = (width: number, height: number) =>
    Buffer.from([
      0xff,
      0xd8,
      0xff,
      0xc0,
      0,
      17,
      8,
      height >> 8,
      height & 255,
      width >> 8,
      width & 255,
      3,
      1,
      34,
      0,
      2,
      17,
      1,
      3,
      17,
      1,
    ]);
  /** A complete WebP file of one lossless frame with that size in its header. */
  const webpHead = (width: number, height: number) => {
    const bits = Buffer.alloc(5);
    bits[0] = 0x2f;
    bits.writeUInt32LE(((width - 1) | ((height - 1) << 14)) >>> 0, 1);
    const body = Buffer.concat([latin('WEBPVP8L'), Buffer.from([6, 0, 0, 0]), bits, Buffer.alloc(1)]);
    const size = Buffer.alloc(4);
    size.writeUInt32LE(body.length);
    return Buffer.concat([latin('RIFF'), size, body]);
  };

  it.each<[name: string, bytes: () => Buffer, expected: string]>([
    ['nothing', () => Buffer.alloc(0), 'no image'],
    ['zero bytes', () => Buffer.alloc(5000), 'no image'],
    ['text', () => latin('no image at all'), 'no image'],
    ['SVG', () => latin('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'), 'no image'],
    ['TIFF', () => latin('II*\0\x08\0\0\0'), 'no image'],
    ['HEIC', () => latin('\0\0\0\x18ftypheic'), 'no image'],
    ['a signature cut short', () => whole.subarray(0, 7), 'no image'],
    ['a signature alone', () => whole.subarray(0, 8), 'damaged'],
    ['a header cut short', () => whole.subarray(0, 20), 'damaged'],
    ['no pixels', () => whole.subarray(0, 33), 'damaged'],
    ['half of its pixels', () => whole.subarray(0, whole.length / 2), 'damaged'],
    ['no last byte of its pixels', () => whole.subarray(0, -17), 'damaged'],
    ['half of a photograph', () => photograph.subarray(0, photograph.length / 2), 'damaged'],
    ['the beginning of a photograph', () => photograph.subarray(0, 3), 'damaged'],
    ['a photograph of zeros', () => Buffer.concat([photograph.subarray(0, 4), Buffer.alloc(4000)]), 'damaged'],
    ['half of a WebP', () => Buffer.from(made.get('still WebP')?.subarray(0, 60) ?? ''), 'damaged'],
    ['a WebP without a body', () => latin('RIFF\0\0\0\0WEBP'), 'damaged'],
    ['a GIF', () => GIF, 'unchanged'],
    ['a large GIF', () => Buffer.concat([GIF, Buffer.alloc(IMAGE_MAX_BYTES)]), 'animated'],
    ['no width', () => png(pngHead(0, 10), ['IDAT', deflateSync(Buffer.alloc(10))]), 'damaged'],
    [
      'a bomb in a PNG header',
      () => png(pngHead(200_000, 200_000), ['IDAT', deflateSync(Buffer.alloc(99))]),
      'too large',
    ],
    [
      'one as large as can be said',
      () => png(pngHead(0x7fffffff, 0x7fffffff), ['IDAT', deflateSync(Buffer.alloc(9))]),
      'damaged',
    ],
    ['one just too large', () => png(pngHead(10_001, 10_000), ['IDAT', deflateSync(Buffer.alloc(9))]), 'too large'],
    ['a bomb in a JPEG header', () => Buffer.concat([jpegHead(65_500, 65_500), Buffer.alloc(99)]), 'damaged'],
    ['a bomb in a WebP header', () => webpHead(16_384, 16_384), 'damaged'],
    ['more bytes than are decoded', () => Buffer.concat([whole, Buffer.alloc(64 * 1024 * 1024)]), 'too large'],
    ['a wrong depth', () => png(pngHead(2500, 10, { depth: 3 }), ['IDAT', deflateSync(Buffer.alloc(9))]), 'damaged'],
    ['a wrong colour', () => png(pngHead(2500, 10, { color: 5 }), ['IDAT', deflateSync(Buffer.alloc(9))]), 'damaged'],
    ['no zlib stream', () => png(pngHead(2500, 10), ['IDAT', latin('not compressed')]), 'damaged'],
    ['too few rows', () => png(pngHead(2500, 1000), ['IDAT', deflateSync(Buffer.alloc(2500 * 3 + 1))]), 'damaged'],
    [
      'a PNG that goes on as a script',
      () => Buffer.concat([whole, latin('<script>alert(1)</script>')]),
      'image/png 2000x80',
    ],
    ['a PNG that goes on as a ZIP', () => Buffer.concat([whole, latin('PK\x03\x04')]), 'image/png 2000x80'],
    ['a JPEG that says PNG behind', () => Buffer.concat([latin('\xff\xd8\xff'), whole]), 'damaged'],
    [
      'a PNG signature in front of an SVG',
      () => Buffer.concat([whole.subarray(0, 8), latin('<svg width="9" height="9"/>')]),
      'damaged',
    ],
  ])('%s: %#', async (_name, bytes, expected) => {
    const given = bytes();
    const before = Buffer.from(given.subarray(0, 100));
    expect(outcome(await fit(given))).toBe(expected);
    expect(given.subarray(0, 100)).toEqual(before);
  });

  it('a PNG with any single byte changed is an image or is damaged', async () => {
    const small = await corners(60, 40).png().toBuffer();
    for (let at = 8; at < small.length; at += 3) {
      const broken = Buffer.from(small);
      broken[at] = (broken[at] ?? 0) ^ 0xff;
      expect(['damaged', 'too large', 'unchanged', 'image/png 60x40', 'image/jpeg 60x40']).toContain(
        outcome(await fit(broken, 10)),
      );
    }
  });

  it('an image queued after one that cannot be read is scaled down nevertheless', async () => {
    const failing = images.fit(() => Promise.reject(new Error('gone')));
    const next = fit(whole);
    await expect(failing).rejects.toThrow('gone');
    expect(outcome(await next)).toBe('image/png 2000x80');
  });
});

describe('a region', () => {
  const crop = async (bytes: Uint8Array, region: number[], exact = false) => {
    const [x = 0, y = 0, width = 0, height = 0] = region;
    return images.crop(async () => bytes, { x, y, width, height }, { exact });
  };
  const wide = blankPng(3000, 400);

  it.each([
    [[0, 0, 3000, 400], [0, 0, 3000, 400], '2000x267'],
    [[0, 0, 1, 1], [0, 0, 1, 1], '1x1'],
    [[2999, 399, 1, 1], [2999, 399, 1, 1], '1x1'],
    [[2999, 399, 50, 50], [2999, 399, 1, 1], '1x1'],
    [[1000, 100, 9000, 9000], [1000, 100, 2000, 300], '2000x300'],
    [[10, 20, 30, 40], [10, 20, 30, 40], '30x40'],
  ])('%j of 3000x400 is %j, sent as %s', async (wanted, [x, y, width, height], sent) => {
    const cut = await crop(wide, wanted);
    expect(cut?.region).toEqual({ x, y, width, height });
    expect(`${cut?.smaller.size.width}x${cut?.smaller.size.height}`).toBe(sent);
  });

  it.each([[[3000, 0, 1, 1]], [[0, 400, 1, 1]], [[9000, 9000, 9, 9]]])('%j is outside the image', async (wanted) => {
    await expect(crop(wide, wanted)).rejects.toThrow('begins outside the image, which is 3000x400 pixels');
  });

  it('has all its pixels with `exact`, or is refused', async () => {
    expect((await crop(wide, [0, 0, 3000, 400], true))?.smaller.size).toEqual({ width: 3000, height: 400 });
    await expect(crop(noisyPng(1400, 1000), [0, 0, 1400, 1000], true)).rejects.toThrow('Ask for a smaller one');
    await expect(crop(blankPng(4001, 4000), [0, 0, 4001, 4000], true)).rejects.toThrow('Ask for a smaller one');
  });

  it.each([
    ['a GIF', GIF],
    ['half an image', blankPng(2500, 900).subarray(0, 100)],
    ['a bomb', png(pngHead(200_000, 200_000))],
  ])('cannot be cropped from %s', async (_what, bytes) => {
    await expect(crop(bytes, [0, 0, 1, 1])).rejects.toBeInstanceOf(RegionError);
    expect(await crop(Buffer.from('text'), [0, 0, 1, 1])).toBeUndefined();
  });
});
