/** Images as models are sent them. */
import { sniffImage } from '#server/files/media-types.ts';
import { decode, DECODE_BYTES, DECODE_PIXELS, readHeader, type Region, type Size } from './decoder.ts';
import { climbDown, cutRegion, wholeImage, type Picture } from './ladder.ts';

/** What one image may have at most, in bytes. */
export const IMAGE_MAX_BYTES = 3.75 * 1024 * 1024;
const MAX_EDGE_PX = 2000;
/** The same of an image that a model asked for by itself. */
const READ_BYTE_BUDGET = 256 * 1024;
/** More in one region would hardly ever fit into those bytes. */
const EXACT_PIXELS = 16_000_000;

export interface ImageSettings {
  maxEdgePx?: number | undefined;
  readByteBudget?: number | undefined;
}

/** Why an image cannot be made smaller. `animated`: a format or a file whose frames would be lost. */
export type Obstacle = 'damaged' | 'too large' | 'animated';

/** What became of an image. */
export interface Fitted {
  /** As it was given. */
  original: { data: Uint8Array; type: string; size?: Size | undefined };
  /** What is sent in its place; absent where the image itself is. */
  smaller?: Picture;
  /** It was to be made smaller and could not be. */
  obstacle?: Obstacle;
}

/** A region of an image. */
export interface Cut extends Fitted {
  smaller: Picture;
  /** The part of it that lies in the image. */
  region: Region;
}

export interface Images {
  /** The configured byte budget of an image that a model asks for. */
  readByteBudget(): number;
  /**
   * Makes an image fit into the longest edge and `maxBytes`. Undefined for what is no image that models take. `load` is
   * called when it is the image's turn.
   */
  fit(load: () => Promise<Uint8Array>, maxBytes?: number): Promise<Fitted | undefined>;
  /** The image as it is, with an obstacle where it is one that could not be made smaller. */
  look(load: () => Promise<Uint8Array>): Promise<Fitted | undefined>;
  /**
   * A region with all its pixels, made smaller only where it would not fit otherwise, or not at all with `exact`. Throws
   * `RegionError`. Undefined for what is no image.
   */
  crop(load: () => Promise<Uint8Array>, region: Region, options?: { exact?: boolean }): Promise<Cut | undefined>;
}

/** The region lies outside the image, or cannot be cut out of it. */
export class RegionError extends Error {
  override readonly name = 'RegionError';
}

const area = ({ width, height }: Size) => width * height;
const longest = ({ width, height }: Size) => Math.max(width, height);

/** What the first bytes and the header tell; an obstacle where it must not or cannot be decoded. */
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

/** The part of the region that lies in the image. */
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

/** Nothing is loaded before the first image. */
export function createImages({ settings }: { settings(): ImageSettings }): Images {
  /** One image after the other: memory is that of one, and other work goes on beside. */
  let last: Promise<unknown> = Promise.resolve();
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  }

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
      // Bytes that are no image, whatever their header says.
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
    fit: (load, maxBytes = IMAGE_MAX_BYTES) => inTurn(async () => fitNow(await load(), maxBytes)),
    look: (load) => inTurn(async () => look(await load())),
    crop: (load, region, { exact = false } = {}) => inTurn(async () => cropNow(await load(), region, exact)),
  };
}
