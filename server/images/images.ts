/** Fits images into the limits of model requests. */
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import { sniffImage } from '#server/files/media-types.ts';
import { decode, DECODE_BYTES, DECODE_PIXELS, readHeader, type Region, type Size } from './decoder.ts';
import { climbDown, cutRegion, wholeImage, type Picture } from './ladder.ts';

/** Byte limit of one image. */
export const IMAGE_MAX_BYTES = 3.75 * 1024 * 1024;
const MAX_EDGE_PX = 2000;
/** Byte limit of an image that a model requested to read. */
const READ_BYTE_BUDGET = 256 * 1024;
/** A region with more pixels would rarely fit into `IMAGE_MAX_BYTES`. */
const EXACT_PIXELS = 16_000_000;

export interface ImageSettings {
  maxEdgePx?: number | undefined;
  readByteBudget?: number | undefined;
}

/** Reason why an image cannot be scaled down. `animated`: the format or the file may have frames that would be lost. */
export type Obstacle = 'damaged' | 'too large' | 'animated';

/** Result of fitting an image. */
export interface Fitted {
  /** The unmodified input. */
  original: { data: Uint8Array; type: string; size?: Size | undefined };
  /** Replacement to send; undefined if the original is sent. */
  smaller?: Picture;
  /** Set if the image had to be scaled down and could not be. */
  obstacle?: Obstacle;
}

/** A region of an image. */
export interface Cut extends Fitted {
  smaller: Picture;
  /** The part of the requested region that is inside the image. */
  region: Region;
}

export interface Images {
  /** The configured byte budget of an image that a model requests to read. */
  readByteBudget(): number;
  /**
   * Fits an image into the maximum edge and `maxBytes`. Undefined for data that is not an image type models accept.
   * `load` is called when the queue reaches the image.
   */
  fit(load: () => Promise<Uint8Array>, maxBytes?: number): Promise<Fitted | undefined>;
  /** Returns the image unmodified, with an obstacle if it could not be scaled down. */
  look(load: () => Promise<Uint8Array>): Promise<Fitted | undefined>;
  /**
   * Crops a region at full resolution; scales it down only if it would not fit, or never with `exact`. Throws
   * `RegionError`. Undefined for data that is not an image.
   */
  crop(load: () => Promise<Uint8Array>, region: Region, options?: { exact?: boolean }): Promise<Cut | undefined>;
}

/** The region is outside the image or cannot be cropped. */
export class RegionError extends Error {
  override readonly name = 'RegionError';
}

const area = ({ width, height }: Size) => width * height;
const longest = ({ width, height }: Size) => Math.max(width, height);

/** Checks signature and header; sets an obstacle if the image must not or cannot be decoded. */
async function look(data: Uint8Array): Promise<Fitted | undefined> {
  const type = sniffImage(data);
  if (type === undefined) return undefined;
  if (type === 'image/gif') return { original: { data, type }, obstacle: 'animated' };
  const header = data.length > DECODE_BYTES ? undefined : await readHeader(data);
  const original = { data, type, size: header?.size };
  if (data.length > DECODE_BYTES) return { original, obstacle: 'too large' };
  if (!header) return { original, obstacle: 'damaged' };
  if (header.animated) return { original, obstacle: 'animated' };
  return area(header.size) > DECODE_PIXELS ? { original, obstacle: 'too large' } : { original };
}

/** The part of the region that is inside the image. */
function clipped(region: Region, { width, height }: Size): Region {
  const inside = {
    x: region.x,
    y: region.y,
    width: Math.min(region.width, width - region.x),
    height: Math.min(region.height, height - region.y),
  };
  if (inside.width > 0 && inside.height > 0) return inside;
  throw new RegionError(`The region begins outside the image, which is ${width}x${height} pixels.`);
}

const tooLarge = ({ width, height }: Size) =>
  new RegionError(
    `A region of ${width}x${height} pixels has more than the ${IMAGE_MAX_BYTES} bytes that can be sent at full resolution. Ask for a smaller one.`,
  );

const unfit: Record<Obstacle, string> = {
  damaged: 'is damaged and cannot be decoded',
  'too large': 'is too large to be decoded',
  animated: 'is animated, or of a format that may be',
};

/** Creates the image service; the library is loaded with the first image. */
export function createImages({ settings }: { settings(): ImageSettings }): Images {
  /** Serial queue: at most one image is in memory, while other work continues. */
  const queue = createSerialQueue();

  const maxEdge = () => settings().maxEdgePx ?? MAX_EDGE_PX;

  async function fitNow(data: Uint8Array, maxBytes: number): Promise<Fitted | undefined> {
    const seen = await look(data);
    if (!seen) return undefined;
    const { original, obstacle } = seen;
    const { type, size } = original;
    const edge = maxEdge();
    if (data.length <= maxBytes && (!size || longest(size) <= edge) && obstacle !== 'too large') {
      return { original, ...(obstacle === 'damaged' ? { obstacle } : {}) };
    }
    if (obstacle || !size) return { original, obstacle: obstacle ?? 'damaged' };
    try {
      const pixels = await decode(data, { edge });
      const smaller = await climbDown(pixels, wholeImage(type, longest(pixels)), maxBytes);
      const saves = smaller.data.length < data.length || area(smaller.size) < area(size);
      return saves ? { original, smaller } : { original };
    } catch {
      // The data is not a valid image although its header is.
      return { original, obstacle: 'damaged' };
    }
  }

  async function cropNow(data: Uint8Array, wanted: Region, exact: boolean): Promise<Cut | undefined> {
    const seen = await look(data);
    if (!seen) return undefined;
    const { original, obstacle } = seen;
    const { size } = original;
    if (obstacle || !size)
      throw new RegionError(`No region can be cut out: the image ${unfit[obstacle ?? 'damaged']}.`);
    const region = clipped(wanted, size);
    if (exact && area(region) > EXACT_PIXELS) throw tooLarge(region);
    const edge = exact || longest(region) <= maxEdge() ? undefined : maxEdge();
    const pixels = await decode(data, { region, edge }).catch((error: unknown) => {
      throw new RegionError(`No region can be cut out: the image ${unfit.damaged}.`, { cause: error });
    });
    const rungs = cutRegion(longest(pixels));
    const smaller = await climbDown(pixels, exact ? rungs.slice(0, 1) : rungs, IMAGE_MAX_BYTES);
    if (exact && smaller.data.length > IMAGE_MAX_BYTES) throw tooLarge(region);
    return { original, region, smaller };
  }

  return {
    readByteBudget: () => settings().readByteBudget ?? READ_BYTE_BUDGET,
    fit: (load, maxBytes = IMAGE_MAX_BYTES) => queue.run(async () => fitNow(await load(), maxBytes)),
    look: (load) => queue.run(async () => look(await load())),
    crop: (load, region, { exact = false } = {}) => queue.run(async () => cropNow(await load(), region, exact)),
  };
}
