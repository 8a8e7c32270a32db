/**
 * The files that a command line in git's configuration may name. Read conservatively: verbatim, and with the words as a
 * shell would pass them on.
 */
import { join, normalize, resolve } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import { unquote } from '#server/processes/shell-words.ts';
import { expandPath } from './configuration.ts';

export interface NamedPaths {
  /** Suffixes of paths: only the shell resolves the directory before them. */
  ends: string[];
  /** Sources of regular expressions that paths match, derived from words with globs or expansions. */
  patterns: string[];
  /** The ends and patterns that may be in any directory, not only below the top. */
  unplaced: string[];
  /** Paths of the words, resolved against the top of the work tree. */
  paths: string[];
}

/** Nested command lines (`sh -c '…'`): deeper ones are not parsed. */
const MAX_DEPTH = 5;

/** The text between characters that may delimit words of a command line. */
const WORDS = /[^\s'"`;&|()<>{}=,]+/g;
/** A word including its quotes and escapes. */
const SHELL_WORD = /(?:\\[\s\S]|\$'(?:[^'\\]|\\[\s\S])*'|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|[^\s'"\\`;&|()<>])+/g;

/** Placeholder for a text that only the shell can expand. No value of git's configuration contains it. */
const UNKNOWN = '\0';
const EXPANSION = /\$\{[^{}]*\}|\$\([^()]*\)|`[^`]*`|\$\w+|\$[@*#?$!-]|\{[^{}\s'"]*(?:,|\.\.)[^{}\s'"]*\}/g;
const GLOB = /\[[^\]]*\]|[*?\0]/g;

/** Yields the line, and the texts of its words after a shell removes the quotes. */
function* spellings(line: string, depth = 0): Generator<string> {
  yield line;
  if (depth === MAX_DEPTH) return;
  for (const [source] of line.matchAll(SHELL_WORD)) {
    const { text } = unquote(source);
    if (text !== source) yield* spellings(text, depth + 1);
  }
}

/** Returns the line with expansions and substitutions replaced, innermost first. */
function withoutExpansions(line: string): string {
  let text = line;
  for (let depth = 0; depth < MAX_DEPTH; depth++) text = text.replace(EXPANSION, UNKNOWN);
  return text;
}

function wordsOf(line: string): Set<string> {
  const words = new Set<string>();
  for (const text of spellings(line)) {
    for (const form of [text, withoutExpansions(text)]) for (const word of form.match(WORDS) ?? []) words.add(word);
  }
  return words;
}

/** Returns the source of an expression for paths that end with the text. */
function patternOf(end: string): string {
  let source = '';
  let at = 0;
  const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  for (const found of end.matchAll(GLOB)) {
    source += literal(end.slice(at, found.index)) + (found[0] === UNKNOWN ? '.*' : found[0] === '*' ? '[^/]*' : '[^/]');
    at = found.index + found[0].length;
  }
  return `${source}${literal(end.slice(at))}$`;
}

/**
 * Returns the files that a command line may name. A word with a slash names every path that ends with it, a word
 * without one a file at the top, where git runs it.
 */
export function namedPaths(line: string, top: string, home: string): NamedPaths {
  const moves = /\bcd\b/.test(line);
  const named: NamedPaths = { ends: [], patterns: [], unplaced: [], paths: [] };
  for (const word of wordsOf(line)) {
    // The value of a variable is unknown here; options and git's placeholders name no files.
    const [start = ''] = /^(?:\$\w*|\0)/.exec(word) ?? [];
    const path = normalize(word.startsWith('~') ? expandPath(word, top, home) : word.slice(start.length));
    const rest = path.replace(/^(?:\.\.?\/)+/, '');
    if (/^[-%]|^(?:\.{0,2}|\/)$/.test(rest)) continue;
    const isPattern = rest.search(GLOB) !== -1;
    // Most globs without a letter or digit are regular expressions, not file names.
    if (isPattern && !/[A-Za-z0-9]/.test(rest.replace(GLOB, ''))) continue;
    const isName = !word.includes('/') && !moves && !rest.includes(UNKNOWN) && start === '';
    const joined = start === UNKNOWN && !rest.startsWith('/');
    const end = isName ? join(top, rest) : rest.startsWith('/') ? rest : `/${rest}`;
    const text = isPattern || joined ? patternOf(joined ? rest : end) : end;
    (isPattern || joined ? named.patterns : named.ends).push(text);
    const place = resolve(top, path);
    const isPlaced = start === '' && !(moves && !rest.startsWith('/')) && !rest.includes(UNKNOWN);
    if (!isPlaced || (isPattern && !isInside(place, top))) named.unplaced.push(text);
    if (!isPattern && !joined) named.paths.push(place);
  }
  return named;
}
