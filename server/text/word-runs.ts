/**
 * Words of a text, and the runs in them that scripts without spaces make. The page marks hits with the same code, so
 * this file needs nothing.
 */

const WORDS = /[\p{L}\p{M}\p{N}]+/gu;
/** Letters of scripts that are written without spaces between words. */
const UNSPACED =
  /(?=\p{L})[\p{Script_Extensions=Han}\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}\p{Script_Extensions=Hangul}]/u;
const RUNS = new RegExp(`(?:${UNSPACED.source})+|(?:(?!${UNSPACED.source})[^])+`, 'gu');
const ALL_UNSPACED = new RegExp(`^(?:${UNSPACED.source})+$`, 'u');

/** Whether every character of the text is of a script without spaces. */
export const isUnspaced = (text: string): boolean => ALL_UNSPACED.test(text);

/** The words of a text as they are written. */
export const wordsOf = (text: string): string[] => text.match(WORDS) ?? [];

export interface Run {
  text: string;
  /** Position in the whole text, in UTF-16 units. */
  start: number;
  isUnspaced: boolean;
}

/** Yields the words of a text; runs of scripts without spaces are separated from the rest. */
export function* runsOf(text: string): Generator<Run> {
  for (const { 0: word, index: start } of text.matchAll(WORDS)) {
    if (!mayBeUnspaced(word)) yield { text: word, start, isUnspaced: false };
    else {
      for (const { 0: run, index } of word.matchAll(RUNS)) {
        yield { text: run, start: start + index, isUnspaced: UNSPACED.test(run) };
      }
    }
  }
}

/** Scripts without spaces begin at U+1100; most words need no test of each character. */
function mayBeUnspaced(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) if (word.charCodeAt(at) >= 0x11_00) return true;
  return false;
}

/** Returns all pairs of neighbouring characters. */
export function pairsOf(characters: readonly string[]): string[] {
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** The terms by which a query finds a run of a script without spaces: its pairs, or its only character. */
export function queryTermsOfRun(run: string): string[] {
  const characters = [...run];
  return characters.length > 1 ? pairsOf(characters) : characters;
}
