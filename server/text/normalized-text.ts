/**
 * Texts as search compares them: compatibility forms, case and width do not count. Positions are mapped back to the
 * original. The page marks hits with the same code, so this file needs nothing.
 */

export const normalizeText = (text: string): string => text.normalize('NFKC').toLowerCase();

/**
 * Characters that normalization may join to one: a base with its marks (the half-width sound marks included), and
 * Hangul letters with the syllable before them.
 */
const CLUSTERS =
  /[\uac00-\ud7a3]?[\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7fb\u3131-\u318e\uffa0-\uffdc]+[\p{M}\uff9e\uff9f]*|\P{M}[\p{M}\uff9e\uff9f]*|[\p{M}\uff9e\uff9f]+/gsu;

/** Positions in UTF-16 units; `end` is exclusive. */
export interface Range {
  start: number;
  end: number;
}

export interface NormalizedText {
  readonly text: string;
  /** Returns the part of the original, in UTF-16 units, from which that part of the normalized text was made. */
  original(part: Range): Range;
}

/** Normalizes a text; a match that begins or ends inside a character with marks is widened to the whole character. */
export function normalizedText(original: string): NormalizedText {
  return {
    text: normalizeText(original),
    original({ start, end }) {
      let from: number | undefined;
      let position = 0;
      for (const { 0: cluster, index } of original.matchAll(CLUSTERS)) {
        position += normalizeText(cluster).length;
        if (from === undefined && position > start) from = index;
        if (position >= end) return { start: from ?? index, end: index + cluster.length };
      }
      return { start: from ?? original.length, end: original.length };
    },
  };
}
