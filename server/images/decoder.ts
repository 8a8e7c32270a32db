/** The image library, loaded at first use, restricted to three formats, few threads and little cached memory. */
import { sniffImage } from '#server/files/media-types.ts';
import { lazy } from '#server/async/lazy.ts';

/** Limits of a decoded image, in pixels and in bytes of the file. */
export const DECODE_PIXELS = 100_000_000;
export const DECODE_BYTES = 64 * 1024 * 1024;
/** Time limit for the pixels of one image, in seconds. */
const DECODE_TIMEOUT_S = 60;

export interface Size {
  width: number;
  height: number;
}

/** Part of an image, in pixels of the image with its orientation applied. */
export interface Region extends Size {
  x: number;
  y: number;
}

export interface ImageHeader {
  type: string;
  /** Size with the orientation applied. */
  size: Size;
  /** True if the image has several frames, which a still image would lose. */
  animated: boolean;
}

/** Decoded pixels: 8 bits per channel, orientation applied, sRGB. */
export interface Pixels extends Size {
  data: Buffer;
  channels: 1 | 2 | 3 | 4;
}

const loaders = ['VipsForeignLoadPngBuffer', 'VipsForeignLoadJpegBuffer', 'VipsForeignLoadWebpBuffer'];

const decoder = lazy(async () => {
  const { default: load } = await import('sharp');
  // Each file is decoded a single time, and other work needs the processors too.
  load.concurrency(1);
  load.cache(false);
  // Restricts the library to the decoders of the three formats, for files with any content.
  load.block({ operation: ['VipsForeignLoad'] });
  load.unblock({ operation: loaders });
  return load;
});

/** Reads the header; undefined for other formats and for a damaged header. */
export async function readHeader(bytes: Uint8Array): Promise<ImageHeader | undefined> {
  const type = sniffImage(bytes);
  if (type === undefined || type === 'image/gif') return undefined;
  const sharp = await decoder();
  try {
    // No pixel limit, because only the header is read.
    const { autoOrient, pages = 1 } = await sharp(bytes, { limitInputPixels: false }).metadata();
    return { type, size: { width: autoOrient.width, height: autoOrient.height }, animated: pages > 1 };
  } catch {
    return undefined;
  }
}

/**
 * Decodes the image or a region of it, scaled down if an edge is longer than `edge`. Rejects for a damaged file and for
 * one above the limits.
 */
export async function decode(
  bytes: Uint8Array,
  { region, edge }: { region?: Region | undefined; edge?: number | undefined },
): Promise<Pixels> {
  const sharp = await decoder();
  const image = sharp(bytes, { limitInputPixels: DECODE_PIXELS, failOn: 'error' }).autoOrient();
  if (region) image.extract({ left: region.x, top: region.y, width: region.width, height: region.height });
  if (edge !== undefined) image.resize({ width: edge, height: edge, fit: 'inside', withoutEnlargement: true });
  const { data, info } = await image
    .toColourspace('srgb')
    .timeout({ seconds: DECODE_TIMEOUT_S })
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels: info.channels };
}

async function opened({ data, width, height, channels }: Pixels) {
  const sharp = await decoder();
  return sharp(data, { raw: { width, height, channels } });
}

/** Scales down to `edge`; returns the same pixels if they fit. */
export async function scaled(pixels: Pixels, edge: number): Promise<Pixels> {
  if (Math.max(pixels.width, pixels.height) <= edge) return pixels;
  const image = (await opened(pixels)).resize({ width: edge, height: edge, fit: 'inside' });
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels: info.channels };
}

export const encodePng = async (pixels: Pixels): Promise<Buffer> => (await opened(pixels)).png().toBuffer();

/** Transparent pixels become white. */
export const encodeJpeg = async (pixels: Pixels, quality: number): Promise<Buffer> =>
  (await opened(pixels)).flatten({ background: 'white' }).jpeg({ quality }).toBuffer();
