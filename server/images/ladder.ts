/** What is tried, from the best to the smallest, until an image has few enough bytes. */
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
  /** Of a JPEG; a PNG without. */
  quality?: number;
}

const photographs = (edges: readonly number[]): Rung[] =>
  edges.flatMap((edge) => QUALITIES.map((quality) => ({ edge, quality })));

/** `edge` is the longest edge of the pixels at hand. */
const edgesFrom = (edge: number) => [edge, ...EDGES.filter((smaller) => smaller < edge)];

/** A photograph stays one; what is drawn is first tried as it was, without loss, at two sizes. */
export function wholeImage(type: string, edge: number): Rung[] {
  const edges = edgesFrom(edge);
  if (type === 'image/jpeg') return photographs(edges);
  const drawn = edges.slice(0, 2).map((rung) => ({ edge: rung }));
  return [...drawn, ...photographs(edges.length > 1 ? edges.slice(1) : edges)];
}

/** A region is tried without loss whatever it is of, then with all its pixels. */
export const cutRegion = (edge: number): Rung[] => [{ edge }, ...photographs(edgesFrom(edge))];

/** The first that has at most `maxBytes`; the smallest of all where none has. */
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
