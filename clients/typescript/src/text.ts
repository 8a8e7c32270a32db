/** Functions for displayed text with the same result as the server's: escapes of hidden characters, and hits of a search. */
import * as normalized from '../../../server/text/normalized-text.ts';
import * as visible from '../../../server/text/visible-text.ts';
import * as words from '../../../server/text/word-runs.ts';

/** Returns the replacement of an escape, such as `<U+2067>`, or of a fold, such as `<60 empty lines>`. */
type Mark = (escape: string) => string;

/** Escapes characters that are invisible, reorder the text or imitate Latin letters, and folds long blank parts. */
export const visibleText: (text: string, mark?: Mark) => string = visible.visibleText;

/** `visibleText` for text that is displayed on one line: line ends and tabs are escaped too. */
export const visibleLine: (text: string, mark?: Mark) => string = visible.visibleLine;

/** Positions in UTF-16 units; `end` is exclusive. */
export interface Range {
  start: number;
  end: number;
}

/** A text as search compares it. */
export interface NormalizedText {
  readonly text: string;
  /** Returns the part of the original to which a part of the normalized text belongs. */
  original(part: Range): Range;
}

/** A word, or the part of one that is written in a script without spaces. */
export interface Run {
  text: string;
  /** Position in the whole text, in UTF-16 units. */
  start: number;
  isUnspaced: boolean;
}

/** Compatibility forms, case and width are not distinguished. */
export const normalizeText: (text: string) => string = normalized.normalizeText;

/** Normalizes a text whose hits are marked in the original. */
export const normalizedText: (original: string) => NormalizedText = normalized.normalizedText;

/** Yields the words of a text. */
export const runsOf: (text: string) => Iterable<Run> = words.runsOf;

/** The terms by which a query finds a run of a script without spaces. */
export const queryTermsOfRun: (run: string) => string[] = words.queryTermsOfRun;
