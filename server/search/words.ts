/** The terms of a text: whole words, and for scripts without spaces every character and pair of neighbours. */
import { toUSVString } from 'node:util';
import { normalizeText } from '#server/text/normalized-text.ts';
import { pairsOf, queryTermsOfRun, runsOf } from '#server/text/word-runs.ts';

/** Returns the text as it is indexed and searched. */
export const normalized = (text: string): string => normalizeText(storable(text));

/**
 * Returns the text with those characters replaced that SQLite cannot store; its length stays. Lone surrogates have no
 * form in UTF-8, and SQLite ends a text at a NUL.
 */
export const storable = (text: string): string => toUSVString(text).replaceAll('\0', '\ufffd');

/** All terms of a normalized text, in order, repeated ones included. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const { text: run, isUnspaced } of runsOf(text)) {
    if (!isUnspaced) terms.push(run);
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
  for (const { text: run, isUnspaced } of runsOf(query)) {
    for (const term of isUnspaced ? queryTermsOfRun(run) : [run]) terms.add(term);
  }
  return [...terms];
}
