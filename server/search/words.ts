/** The terms of a text: whole words, and for scripts without spaces every character and pair of neighbours. */

import { toUSVString } from 'node:util';

/**
 * How search compares texts: compatibility forms, case and width do not count. Lone surrogates have no form in UTF-8,
 * and SQLite ends a text at a NUL.
 */
export const normalized = (text: string): string => storable(text).normalize('NFKC').toLowerCase();

/** Returns the text with those characters replaced that SQLite cannot store; its length stays. */
export const storable = (text: string): string => toUSVString(text).replaceAll('\0', '\ufffd');

const WORDS = /[\p{L}\p{M}\p{N}]+/gu;
/** Letters of scripts that are written without spaces between words. */
const UNSPACED =
  /(?=\p{L})[\p{Script_Extensions=Han}\p{Script_Extensions=Hiragana}\p{Script_Extensions=Katakana}\p{Script_Extensions=Hangul}]/u;
const RUNS = new RegExp(`(?:${UNSPACED.source})+|(?:(?!${UNSPACED.source})[^])+`, 'gu');

const ALL_UNSPACED = new RegExp(`^(?:${UNSPACED.source})+$`, 'u');

/** Whether every character of the text is of a script without spaces. */
export const isUnspaced = (text: string): boolean => ALL_UNSPACED.test(text);

/** The words of a normalized text as they are written. */
export const wordsOf = (text: string): string[] => text.match(WORDS) ?? [];

/** The words of a normalized text; runs of scripts without spaces are split from the rest. */
function* runsOf(text: string): Generator<{ run: string; unspaced: boolean }> {
  for (const [word] of text.matchAll(WORDS)) {
    if (!mayBeUnspaced(word)) yield { run: word, unspaced: false };
    else for (const [run] of word.matchAll(RUNS)) yield { run, unspaced: UNSPACED.test(run) };
  }
}

/** Scripts without spaces begin at U+1100; most words need no test of each character. */
function mayBeUnspaced(word: string): boolean {
  for (let at = 0; at < word.length; at += 1) if (word.charCodeAt(at) >= 0x11_00) return true;
  return false;
}

function pairsOf(characters: readonly string[]): string[] {
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

/** All terms of a normalized text, in order, repeated ones included. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const { run, unspaced } of runsOf(text)) {
    if (!unspaced) terms.push(run);
    else {
      const characters = [...run];
      terms.push(...characters, ...pairsOf(characters));
    }
  }
  return terms;
}

/** The distinct terms of a normalized query. A run of a script without spaces gives its pairs only. */
export function queryTermsOf(query: string): string[] {
  const terms = new Set<string>();
  for (const { run, unspaced } of runsOf(query)) {
    const characters = unspaced ? [...run] : [run];
    for (const term of characters.length > 1 ? pairsOf(characters) : characters) terms.add(term);
  }
  return [...terms];
}
