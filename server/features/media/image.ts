/** Renders an image as the content of a tool result. */
import { IMAGE_MAX_BYTES, RegionError, type Cut, type Fitted, type Images } from '#server/images/images.ts';
import type { Part } from '#schema/engine.ts';
import type { MediaArguments } from './arguments.ts';

export interface Shown {
  part: Part;
  /** The description that the model receives with it. */
  description: string;
}

type Load = () => Promise<Uint8Array>;

/** The image, or the requested region; a text with the reason if it cannot be shown. */
export async function imageOf(load: Load, args: MediaArguments, images: Images): Promise<Shown | string> {
  const { path, region, full_resolution: exact = false } = args;
  if (region) return cutOut(load, region, { path, exact }, images);
  const fitted = exact ? await images.look(load) : await images.fit(load, images.readByteBudget());
  if (!fitted) return `${path} is no image any more.`;
  const problem = problemOf(fitted, path, exact);
  if (problem !== undefined) return problem;
  const { original, smaller } = fitted;
  const description = [`${described(original)}.`];
  if (smaller) {
    description.push(
      `Shown as ${described(smaller)}. To see details, read a region of the original${original.data.length > IMAGE_MAX_BYTES ? '' : ', or use full_resolution'}.`,
    );
  } else description.push('Shown as it is.');
  return { part: imagePart(smaller ?? original), description: description.join(' ') };
}

async function cutOut(
  load: Load,
  wanted: Cut['region'],
  { path, exact }: { path: string; exact: boolean },
  images: Images,
): Promise<Shown | string> {
  try {
    const cut = await images.crop(load, wanted, { exact });
    if (!cut) return `${path} is no image any more.`;
    const { original, smaller, region } = cut;
    const all = smaller.size.width === region.width && smaller.size.height === region.height;
    const place = `The region at x ${region.x}, y ${region.y}, ${region.width}x${region.height} pixels`;
    return {
      part: imagePart(smaller),
      description: `${described(original)}. ${place}, is shown as ${described(smaller)}${all ? '' : ', made smaller'}.`,
    };
  } catch (error) {
    if (error instanceof RegionError) return `${path}: ${error.message}`;
    throw error;
  }
}

/** The reason why the model cannot receive it; undefined if it can. */
function problemOf({ original, smaller, obstacle }: Fitted, path: string, exact: boolean): string | undefined {
  if (obstacle === 'damaged') return `${path} is damaged: it cannot be decoded as ${original.type}.`;
  if (obstacle === 'too large') {
    return `${path} has too many pixels to be decoded. Make a smaller copy with Bash and read that.`;
  }
  const bytes = (smaller?.data ?? original.data).length;
  if (bytes <= IMAGE_MAX_BYTES) return undefined;
  const limit = `${path} has ${bytes} bytes, more than the ${IMAGE_MAX_BYTES} that can be sent`;
  if (original.type === 'image/gif' || obstacle === 'animated') {
    return `${limit}, and animations are not made smaller. Extract frames with Bash and read those.`;
  }
  return exact ? `${limit} at full resolution. Read a region, or leave full_resolution out.` : `${limit}.`;
}

function described({ data, type, size }: Fitted['original']): string {
  return [type, `${data.length} bytes`, ...(size ? [`${size.width}x${size.height} pixels`] : [])].join(', ');
}

const imagePart = ({ data, type }: Fitted['original']): Part => ({
  type: 'image_url',
  imageUrl: { url: `data:${type};base64,${Buffer.from(data).toString('base64')}` },
});
