/**
 * Texts as the server's search compares them: compatibility forms, case and width do not count. Positions in the
 * normalized text are mapped back to the original.
 */

export const normalized = (text: string): string => text.normalize('NFKC').toLowerCase();

/** Characters that normalization may join: a base with its marks, and Hangul letters with the syllable before them. */
const CLUSTERS =
  /[\uac00-\ud7a3]?[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7fb\u3131-\u318e\uffa0-\uffdc]+[\p{M}\uff9e\uff9f]*|\P{M}[\p{M}\uff9e\uff9f]*|[\p{M}\uff9e\uff9f]+/gsu;

/** Positions in UTF-16 units; `end` is exclusive. */
export interface Range {
  start: number;
  end: number;
}

export interface NormalizedText {
  text: string;
  /** Returns the part of the original from which a part of the normalized text was created, in whole characters. */
  original(part: Range): Range;
}

/** For short texts: the positions of all characters are stored. */
export function normalizedText(original: string): NormalizedText {
  /** The cluster of the original that each unit of the normalized text is part of. */
  const clusters: Range[] = [];
  for (const { 0: cluster, index: start } of original.matchAll(CLUSTERS)) {
    const range = { start, end: start + cluster.length };
    for (let unit = normalized(cluster).length; unit > 0; unit -= 1) clusters.push(range);
  }
  return {
    text: normalized(original),
    original: ({ start, end }) => ({
      start: clusters[start]?.start ?? original.length,
      end: clusters[end - 1]?.end ?? original.length,
    }),
  };
}
