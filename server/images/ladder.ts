/** Sequence of encodings to try, from the best to the smallest, until an image fits its byte limit. */
import { encodeJpeg, encodePng, scaled, type Pixels, type Size } from './decoder.ts';

const EDGES = [1000, 768, 512, 384, 256];
const QUALITIES = [80, 60, 40, 20];

export interface Picture {
  data: Buffer;
  type: 'image/png' | 'image/jpeg';
  size: Size;
}

interface Rung {
  edge: number;
  /** JPEG quality; undefined for a PNG. */
  quality?: number;
}

const photographs = (edges: readonly number[]): Rung[] =>
  edges.flatMap((edge) => QUALITIES.map((quality) => ({ edge, quality })));

/** `edge`: the longest edge of the decoded pixels. */
const edgesFrom = (edge: number) => [edge, ...EDGES.filter((smaller) => smaller < edge)];

/** JPEG input stays JPEG; other formats are tried lossless at two sizes first. */
export function wholeImage(type: string, edge: number): Rung[] {
  const edges = edgesFrom(edge);
  if (type === 'image/jpeg') return photographs(edges);
  const drawn = edges.slice(0, 2).map((rung) => ({ edge: rung }));
  return [...drawn, ...photographs(edges.length > 1 ? edges.slice(1) : edges)];
}

/** A region is tried lossless first, for any format, then as JPEG at full resolution. */
export const cutRegion = (edge: number): Rung[] => [{ edge }, ...photographs(edgesFrom(edge))];

/** Returns the first encoding of at most `maxBytes`, or the smallest of all if none fits. */
export async function climbDown(pixels: Pixels, rungs: readonly Rung[], maxBytes: number): Promise<Picture> {
  let smallest: Picture | undefined;
  let present = pixels;
  for (const { edge, quality } of rungs) {
    present = await scaled(present, edge);
    const size = { width: present.width, height: present.height };
    const picture: Picture =
      quality === undefined
        ? { data: await encodePng(present), type: 'image/png', size }
        : { data: await encodeJpeg(present, quality), type: 'image/jpeg', size };
    if (picture.data.length <= maxBytes) return picture;
    if (!smallest || picture.data.length < smallest.data.length) smallest = picture;
  }
  if (!smallest) throw new Error('a ladder has rungs');
  return smallest;
}
